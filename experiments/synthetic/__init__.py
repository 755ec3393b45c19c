"""Experiments on laws that are drawn from: figures and propositions of the paper."""
