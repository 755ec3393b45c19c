"""The estimator shell of the depths: scikit-learn's contract, without importing scikit-learn.

``import isodepth`` must stay light, so a class statement cannot name ``BaseEstimator``. Who uses
scikit-learn has imported it: from then on the shell *is* a ``BaseEstimator``, as if it had been
derived from it all along.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any, TypeVar

from isodepth.errors import InvalidOptionError

Self = TypeVar("Self", bound="Estimator")


class _Foundation:
    """A base that can be exchanged: Python does not allow that of `object` itself."""


class Estimator(_Foundation):
    """Settings by name, tags, and a place in scikit-learn's family once that is loaded."""

    def __init__(self) -> None:
        join_scikit_learn()

    @classmethod
    def _parameter_names(cls) -> list[str]:
        names: dict[str, None] = {}
        for owner in reversed(cls.__mro__):
            initializer = vars(owner).get("__init__")
            if initializer is not None and owner is not object:
                for parameter in inspect.signature(initializer).parameters.values():
                    if parameter.kind is parameter.KEYWORD_ONLY:
                        names[parameter.name] = None
        return list(names)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, as scikit-learn expects them."""
        join_scikit_learn()
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Change settings by name; an unknown name changes nothing."""
        valid = self._parameter_names()
        for name in params:
            if name not in valid:
                raise InvalidOptionError(
                    f"{type(self).__name__} has no setting {name!r}; it has {', '.join(valid)}"
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        # A depth orders points, and leaves it to the caller which of them are outliers.
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(),
        )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = type(self)().get_params()
        changed = {k: v for k, v in self.get_params().items() if v is not defaults[k]}
        inside = ", ".join(f"{k}={v!r}" for k, v in changed.items() if v != defaults[k])
        return f"{type(self).__name__}({inside})"


def join_scikit_learn() -> None:
    """Make the shell a `BaseEstimator` if scikit-learn has been imported; cheap if it is one."""
    base = getattr(sys.modules.get("sklearn.base"), "BaseEstimator", None)
    if base is None or issubclass(Estimator, base):
        return
    Estimator.__bases__ = (_Foundation, base)
    # What scikit-learn does for classes that derive from it: requests such as set_fit_request.
    waiting: list[Any] = [Estimator]
    while waiting:
        derived = waiting.pop()
        base.__init_subclass__.__func__(derived)
        waiting += derived.__subclasses__()
