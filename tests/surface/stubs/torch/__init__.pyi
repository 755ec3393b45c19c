"""The part of torch that the calls of users need: mypy needs a minute for the whole package."""

from typing import Any

from . import nn as nn

class Tensor:
    requires_grad: bool
    def detach(self) -> Tensor: ...
    def __array__(self, dtype: Any = None) -> Any: ...

def zeros(*size: int) -> Tensor: ...
