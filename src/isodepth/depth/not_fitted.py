"""The error of a depth without a sample: imports scikit-learn, so only imported to be raised."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from isodepth.errors import InvalidInputError


class NotFittedDepthError(InvalidInputError, NotFittedError):
    """A depth is asked for depths before it has seen a sample."""
