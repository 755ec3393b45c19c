"""The option `scale`, which divides columns by their units."""

from __future__ import annotations

import re
import warnings
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from combined import compare_and_test
from twins import naive_settings

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.scaling import column_units

RNG = np.random.default_rng(0)
UNITS = np.array([1.0, 1000.0, 0.01])
X, Y = RNG.standard_normal((40, 3)) * UNITS, (RNG.standard_normal((30, 3)) + 0.5) * UNITS
OPTIONS = {"n_directions": 50, "random_state": 0}


def scaled_by(scale: list[float] | np.ndarray) -> float:
    return isodepth.distance(X / np.asarray(scale), Y / np.asarray(scale), **OPTIONS)


def test_a_scale_divides_the_columns() -> None:
    both, first = (naive_settings.column_units(rows) for rows in (np.concatenate([X, Y]), X))
    for scale, units in (("pooled", both), ("reference", first), (UNITS, UNITS)):
        found = isodepth.distance(X, Y, scale=scale, **OPTIONS)
        assert found == pytest.approx(scaled_by(units), rel=1e-12)
    assert scaled_by(first) != scaled_by(both)


def test_units_of_columns_do_not_matter() -> None:
    # Division by powers of two is exact, so the distances are equal in all bits.
    change = np.array([2.0, 0.5, 1024.0])
    one = isodepth.distance(X, Y, scale="pooled", **OPTIONS)
    assert isodepth.distance(X * change, Y * change, scale="pooled", **OPTIONS) == one


def test_weights_enter_the_spread() -> None:
    weights = (np.arange(40.0), None)
    got = isodepth.distance(X, Y, weights=weights, scale="reference", **OPTIONS)
    spread = naive_settings.column_units(X, weights[0])
    wanted = isodepth.distance(X / spread, Y / spread, weights=weights, **OPTIONS)
    assert got == pytest.approx(wanted, rel=1e-12)


def test_the_array_is_kept_as_it_was() -> None:
    scale = np.array([1.0, 2.0, 3.0])
    metric = isodepth.Metric(scale=scale, **OPTIONS)
    before = metric.distance(X, Y)
    scale[:] = 100.0
    assert metric.distance(X, Y) == before
    with pytest.raises(ValueError, match="read-only"):
        metric.scale[0] = 5.0


@pytest.mark.parametrize("word", ["pooled", "reference"])
def test_one_sample_alone_has_no_partner(word: str) -> None:
    metric = isodepth.Metric(scale=word, levels=5, **OPTIONS)
    for make in (metric.regions, metric.region_table, lambda X: metric.with_directions(3)):
        with pytest.raises(InvalidOptionError, match=r"single sample.*isodepth.region_tables"):
            make(X)
    with pytest.raises(InvalidOptionError, match="scale='reference'"):
        isodepth.region_tables([X, Y], scale="reference", **OPTIONS)


def test_regions_are_scaled() -> None:
    metric = isodepth.Metric(scale=UNITS, **OPTIONS)
    drawn = metric.with_directions(3)
    assert drawn.distance(*drawn.all_regions([X, Y])) == metric.distance(X, Y)


def test_a_scale_for_every_column() -> None:
    for make in (
        lambda: isodepth.distance(X, Y, scale=[1.0, 2.0]),
        lambda: isodepth.Metric(scale=[1.0, 2.0]).with_directions(3),
        lambda: isodepth.Metric(scale=[1.0, 2.0]).regions(X),
    ):
        with pytest.raises(InvalidInputError, match="got 2 for 3 columns"):
            make()


# -- many samples, monitors -----------------------------------------------------------------------


def test_many_samples_share_the_spread_of_all(tmp_path) -> None:
    samples = [X, Y, X[:20] * 2]
    everything = column_units(np.concatenate(samples))
    tables = isodepth.region_tables(samples, scale="pooled", **OPTIONS)
    assert tables.scale.tolist() == everything.tolist()
    plain = isodepth.pairwise([s / everything for s in samples], **OPTIONS)
    np.testing.assert_array_equal(isodepth.pairwise(tables), plain)
    np.testing.assert_array_equal(isodepth.pairwise(samples, scale="pooled", **OPTIONS), plain)
    split = isodepth.pairwise(samples[:2], samples[2:], scale="pooled", **OPTIONS)
    np.testing.assert_array_equal(split, plain[:2, 2:])
    # Tables of later samples are comparable if they use the scale of a saved table.
    tables[0].save(tmp_path / "t.npz")
    again = isodepth.RegionTable.load(tmp_path / "t.npz")
    assert again.scale.tolist() == everything.tolist()
    more = isodepth.Metric(scale=again.scale, levels=20, refine=0, dtype="float64", **OPTIONS)
    assert again.distance_to(more.region_table(Y)) == pytest.approx(plain[0, 1], rel=1e-12)
    other = isodepth.region_tables(samples[:2], scale="pooled", **OPTIONS)
    with pytest.raises(InvalidInputError, match="differ in scale"):
        tables[0].distance_to(other[0])


def test_a_file_with_another_scale_is_refused(tmp_path) -> None:
    from isodepth.base.output import read_archive, write_archive

    table = isodepth.region_tables([X], scale="pooled", **OPTIONS)[0]
    table.save(tmp_path / "t.npz")
    header, arrays = read_archive(tmp_path / "t.npz", "region table")
    kept = {k: v for k, v in header.items() if k not in ("format", "version", "kind")}
    for scale in (arrays["scale"] * 2, arrays["scale"][:2], None):
        changed = {"values": arrays["values"]} | ({} if scale is None else {"scale": scale})
        write_archive(tmp_path / "u.npz", "region table", kept, changed)
        with pytest.raises(isodepth.errors.UnreadableFileError, match="scale"):
            isodepth.RegionTable.load(tmp_path / "u.npz")


def test_transformers_learn_the_scale_from_the_bags_fitted() -> None:
    bags = [X, Y]
    rows = isodepth.RegionTransformer(scale="pooled", **OPTIONS).fit_transform(bags)
    tables = isodepth.region_tables(bags, scale="pooled", **OPTIONS)
    np.testing.assert_array_equal(rows, tables.values.reshape(2, -1))
    model = isodepth.DistanceTransformer(scale="pooled", **OPTIONS).fit(bags)
    np.testing.assert_array_equal(model.transform(bags), isodepth.pairwise(tables))


# -- the warning ----------------------------------------------------------------------------------


def test_very_different_spreads_warn_once() -> None:
    rows = np.vstack([np.minimum(X.min(axis=0), Y.min(axis=0)), X])
    frame = pd.DataFrame(rows, columns=["temp", "pressure", "rain"])
    with pytest.warns(
        isodepth.errors.ScaleWarning, match=r"in pressure and .* in rain.*scale='pooled'"
    ) as c:
        isodepth.compare(frame, Y, **OPTIONS)
    assert len(c) == 1
    assert c[0].filename == __file__


@pytest.mark.parametrize("factor", [1, 1000])
@pytest.mark.parametrize("chunked", [False, True])
def test_units_that_hide_a_change_of_the_test_are_named(
    chunked: bool, factor: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame({"age": part[0], "income": 60 * factor * part[1]})
        for part in rng.normal(size=(2, 2, 300))
    )
    y["age"] += 1
    pair = [isodepth.scan(each) for each in (x, y)] if chunked else [x, y]
    options: dict[str, Any] = {"n_permutations": 49, "random_state": 0, "levels": 10, "refine": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", isodepth.errors.ScaleWarning)
        result = compare_and_test(*pair, **options)
    with pytest.warns(isodepth.errors.ScaleWarning) as caught:
        result._warn_of_units()
    assert len(caught) == 1
    note = str(caught[0].message)
    assert re.match("because of its unit, income contributes (9.|100)% .* a change of age; ", note)
    sentence = f"B{note[1:]}"
    assert all(sentence in str(each) for each in (result, result.without_rows()))
    assert note == result.without_rows()._units_note
    page = tmp_path / "page.html"
    result.report(page)
    assert sentence in unescape(page.read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "unit," not in str(compare_and_test(*pair, scale="pooled", **options))
        if factor == 1:
            # The largest contribution is that of a column with a change.
            y["income"] += 60
            assert "unit," not in str(compare_and_test(x, y, **options))


def test_no_warning_for_similar_or_scaled_columns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        isodepth.compare(X, Y, scale="pooled", **OPTIONS)
        isodepth.compare(X, Y, scale=UNITS, **OPTIONS)
        isodepth.compare(X / UNITS * [9, 891, 9], Y / UNITS * [9, 540, 9], scale=None, **OPTIONS)
        isodepth.compare(X[:, :1], Y[:, :1], scale=None, **OPTIONS)
        # No warning for a constant column, whose spread is 0.
        flat = np.column_stack([X[:, 1], np.ones(40)])
        isodepth.compare(flat, flat, **OPTIONS)
        isodepth.distance(X, Y, **OPTIONS)
