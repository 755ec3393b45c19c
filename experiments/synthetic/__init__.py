"""Experiments on synthetic samples: figures and propositions of the paper."""
