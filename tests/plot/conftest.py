"""Fixture that closes the figures of pyplot after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    pytest.importorskip("matplotlib.pyplot").close("all")
