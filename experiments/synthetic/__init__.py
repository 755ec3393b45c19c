"""Experiments on distributions that are drawn from: figures and propositions of the paper."""
