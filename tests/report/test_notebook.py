"""Results in notebooks have the tables of the report, escaped text, and take little time."""

from __future__ import annotations

import html
import re
import sys

import numpy as np
import pytest

import isodepth
from isodepth.show.notebook import table_html
from isodepth.table.frames import NamedArray

EVIL = "<script>alert(1)</script>"


def pair():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 2)), rng.normal(size=(70, 2)) + [2, 0]
    y[7, 1] = -9999
    return NamedArray(x, ("temp", EVIL)), NamedArray(y, ("temp", EVIL))


@pytest.fixture(scope="module")
def result():
    return isodepth.two_sample_test(*pair(), n_permutations=99, random_state=0)


@pytest.fixture(scope="module")
def monitor():
    rng = np.random.default_rng(0)
    made = isodepth.Monitor(rng.normal(size=(3000, 2)), random_state=0)
    for _ in range(9):
        made.check(rng.normal(size=(50, 2)))
    made.check(rng.normal(size=(50, 2)) + [3, 0])
    return made


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def test_a_test_shows_its_headline_changes_and_suspicious_rows(result) -> None:
    pytest.importorskip("matplotlib")
    page = result._repr_html_()
    change = result.changes[0]
    assert change.columns == ("temp",)
    assert f"{change._label} {' → '.join(change._values)}" in text_of(page)
    assert page.count("<svg") == len(result.changes) > 0
    assert "= -9999</mark>" in page
    assert result.signature not in text_of(page)
    assert EVIL not in page
    assert html.escape(EVIL) in page


def test_a_comparison_without_a_test_shows_its_distance() -> None:
    comparison = isodepth.compare(*pair(), n_directions=20, random_state=0)
    page = comparison._repr_html_()
    assert f"X and Y are at distance {comparison.distance:.3g}, not tested." in page
    assert "<svg" not in page


def test_without_matplotlib_there_are_no_figures(result, monkeypatch) -> None:
    monkeypatch.setattr("isodepth.show.notebook.find_spec", lambda name: None)
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    page = result._repr_html_()
    assert "<svg" not in page
    assert "(filled)" not in page
    assert " → ".join(result.changes[0]._values) in page


def test_large_samples_have_no_figures_and_no_search_for_rows(monkeypatch) -> None:
    monkeypatch.setattr("isodepth.show.notebook._DRAWN_ROWS", 149)
    monkeypatch.setattr("isodepth.show.notebook._SEARCHED_VALUES", 299)
    result = isodepth.two_sample_test(*pair(), n_permutations=99, random_state=0)
    page = result._repr_html_()
    assert "<svg" not in page
    assert "<mark>" not in page
    assert "suspicious_rows() lists the rows" in page
    result.suspicious_rows()
    assert "<mark>" in result._repr_html_()
    monkeypatch.setattr("isodepth.show.notebook._SEARCHED_VALUES", 300)
    again = isodepth.two_sample_test(*pair(), n_permutations=99, random_state=0)
    assert "<mark>" in again._repr_html_()


def test_at_most_five_changes_and_rows() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 9))
    y[:, :8] += 2
    y[:9, 8] = 50 + np.arange(9)
    result = isodepth.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert len(result.changes) > 5
    page = result._repr_html_()
    assert f"The first 5 of {len(result.changes)} changes" in page
    assert page.count("<mark>") == 5
    assert f"The first 5 of {len(result.suspicious_rows())} rows" in page


def test_samples_in_chunks_are_not_read_again() -> None:
    x, y = (isodepth.scan(table.points) for table in pair())
    result = isodepth.compare(x, y, levels=10, refine=0, n_directions=20, random_state=0)
    page = result._repr_html_()
    assert "at distance" in page
    assert "<mark>" not in page
    assert "suspicious_rows() lists the rows" in page
    assert len(result.suspicious_rows())
    assert "= -9999</mark></td>" in result._repr_html_()


def test_a_monitor_shows_its_last_batches(monitor) -> None:
    page = monitor._repr_html_()
    assert "Alarm since batch 10 of 10" in page
    assert "The last 8 batches" in page
    assert page.count("<tr>") == 1 + 8
    alone = isodepth.Monitor(np.random.default_rng(0).normal(size=(2000, 2)), random_state=0)
    assert "No batch has been checked yet" in alone._repr_html_()


def test_a_verdict_and_suspicious_rows_are_tables(monitor, result) -> None:
    verdict = monitor.verdicts[-1]
    page = verdict._repr_html_()
    assert "batch 10: ALARM since batch 10" in page
    assert page.count("<tr>") == 1 + len(verdict.changes)
    rows = result.suspicious_rows()
    page = rows._repr_html_()
    assert rows._summary() in page
    assert ">-9999<" in page
    assert ">pvalue<" not in page  # small samples have no p-values


def test_a_distance_matrix_shows_its_first_rows_and_columns() -> None:
    labels = [f"bag {k}" for k in range(20)]
    page = isodepth.DistanceMatrix.from_array(
        np.arange(400.0).reshape(20, 20), labels
    )._repr_html_()
    assert "DistanceMatrix: distances between 20 samples" in page
    assert page.count("<tr>") == 1 + 12
    assert "First rows and columns of 20 x 20; to_frame() has all." in page
    small = isodepth.DistanceMatrix.from_array([[0, 1.5], [1.5, 0]], [EVIL, "b"])._repr_html_()
    assert "First rows" not in small
    assert ">1.5<" in small
    assert EVIL not in small


def test_tables_without_rows_and_long_titles() -> None:
    assert "<table" not in table_html("none", {"a": [], "b": []})
    assert "<table" not in table_html("none", {"a": [None, None]})
    page = table_html("t" * 200, {"a": [1]})
    assert "t" * 119 + "…" in page
    assert "t" * 120 not in page


def test_templates_are_compiled_once(monkeypatch):
    first = table_html("one", {"a": [1.0]})
    monkeypatch.setattr("jinja2.Environment.compile", None)
    assert table_html("one", {"a": [1.0]}) == first
    assert "two" in table_html("two", {"a": [2.0]})
