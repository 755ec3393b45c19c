"""Errors and warnings keep their message and their attributes if they are copied or pickled."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from isodepth import errors

#: Ways in which errors are copied, also between the processes of joblib.
COPIES: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    *(lambda error, p=p: pickle.loads(pickle.dumps(error, p)) for p in range(6)),
]
ATTRIBUTES = {
    "InvalidOptionError": {"option": "levels"},
    "UnknownOptionError": {"option": "levels"},
    "MissingExtraError": {"name": "torch", "path": "torch.py"},
    "UnavailableError": {"name": "regions"},
}


@pytest.mark.parametrize("name", errors.__all__)
@pytest.mark.parametrize("make", COPIES)
def test_errors_and_warnings_are_copied_with_all_attributes(
    name: str, make: Callable[[Any], Any]
) -> None:
    attributes = {"detail": 3, **ATTRIBUTES.get(name, {})}
    error = getattr(errors, name)("the message: 'x'")
    for key, value in attributes.items():
        setattr(error, key, value)
    error.add_note("a note")
    made = make(error)
    assert type(made) is type(error)
    assert (str(made), repr(made), made.args) == (str(error), repr(error), error.args)
    assert {key: getattr(made, key) for key in attributes} == attributes
    assert made.__notes__ == ["a note"]
    assert getattr(made, "errno", None) == getattr(error, "errno", None)
