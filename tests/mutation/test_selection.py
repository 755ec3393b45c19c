"""Which tests a mutant meets, and in which order."""

from __future__ import annotations

import pytest

from mutation.selection import RecordedTest, batches, lines_to_watch, select

TEXT = '''\
"""A module."""
LIMIT = 3


class Box:
    size: int = 4

    def grow(
        self, by: int = 2
    ) -> int:
        """Docstring."""
        if (by > 0 and
                by < LIMIT):
            return max(
                by,
                self.size + 1,
            )

        def inner(step=1):
            return step - 1

        try:
            return inner(by)
        except ValueError:
            return -1


def other():
    return LIMIT
'''


def line_of(text: str) -> int:
    """The number of the line of TEXT that holds a text."""
    (found,) = [at for at, line in enumerate(TEXT.splitlines(), 1) if text in line]
    return found


@pytest.mark.parametrize(
    ("mutated", "first", "last"),
    [
        ("self.size + 1", "return max(", "self.size + 1"),  # the statement, not its one line
        ("by < LIMIT", "if (by", "by < LIMIT"),  # the condition, not what follows from it
        ("return step - 1", "return step - 1", "return step - 1"),
        ("return -1", "return -1", "return -1"),
        ("except ValueError", "except ValueError", "return -1"),
        ("by: int = 2", "Docstring", "return -1"),  # a default is used by the body
        ("def inner(step=1)", "def inner(step=1)", "def inner(step=1)"),
    ],
)
def test_lines_inside_a_function(mutated: str, first: str, last: str) -> None:
    watched = lines_to_watch(TEXT, line_of(mutated))
    assert line_of(first) in watched
    assert line_of(last) in watched
    assert watched <= set(range(line_of(first), line_of(last) + 2))


@pytest.mark.parametrize("mutated", ["LIMIT = 3", "size: int = 4"])
def test_what_happens_at_import_is_watched_in_every_function(mutated: str) -> None:
    watched = lines_to_watch(TEXT, line_of(mutated))
    assert {line_of("return LIMIT"), line_of("self.size + 1"), line_of("return -1")} <= watched
    assert line_of("class Box") not in watched


TESTS = {
    "slow": RecordedTest(4.0, True, {"a.py": frozenset({1, 2})}),
    "fast": RecordedTest(0.1, True, {"a.py": frozenset({2, 3})}),
    "broken": RecordedTest(0.0, False, {"a.py": frozenset({2})}),
    "elsewhere": RecordedTest(0.0, True, {"b.py": frozenset({2})}),
    "middle": RecordedTest(1.0, True, {"a.py": frozenset({2})}),
}


def test_only_passing_tests_that_execute_the_line_the_cheapest_first() -> None:
    assert select(TESTS, "a.py", frozenset({2})) == ["fast", "middle", "slow"]
    assert select(TESTS, "a.py", frozenset({1, 7})) == ["slow"]
    assert select(TESTS, "c.py", frozenset({2})) == []


def test_tests_of_the_room_may_cost_more() -> None:
    file = "src/isodepth/core/levels.py"
    lines = {file: frozenset({5})}
    tests = {
        "tests/properties/test_a.py::test_a": RecordedTest(1.0, True, lines),
        "tests/core/test_b.py::test_b": RecordedTest(2.0, True, lines),
        "tests/core/test_b.py::test_dear": RecordedTest(4.0, True, lines),
        "src/isodepth/core/levels.py::isodepth.core.levels.f": RecordedTest(2.5, True, lines),
        "tests/corex/test_c.py::test_c": RecordedTest(1.2, True, lines),
    }
    order = ["::test_b", "core.levels.f", "::test_a", "::test_c", "::test_dear"]
    found = select(tests, file, frozenset({5}))
    assert all(name.endswith(end) for name, end in zip(found, order, strict=True))


@pytest.mark.parametrize(
    ("first", "limit", "expected"),
    [
        (2.0, 9.0, [["fast", "middle"], ["slow"]]),
        (9.0, 9.0, [["fast", "middle", "slow"]]),
        (0.5, 2.0, [["fast"], ["middle"]]),
        (0.5, 0.0, [["fast"]]),
    ],
)
def test_cheap_tests_run_first_and_dear_ones_up_to_a_limit(
    first: float, limit: float, expected: list[list[str]]
) -> None:
    assert batches(["fast", "middle", "slow"], TESTS, first, limit) == expected
    assert batches([], TESTS, first, limit) == []
