"""Region tables in files of earlier versions are read, and compared if their settings agree.

The files were written by isodepth 0.1.0 from the samples below.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import isodepth
from isodepth import Metric, RegionTable
from isodepth.base.export import json_settings
from isodepth.base.output import read_archive, write_archive
from isodepth.errors import InvalidInputError, UnreadableFileError
from isodepth.metric import region_table
from isodepth.metric import signature as signatures
from isodepth.metric.region_table import KIND
from isodepth.metric.signature import ALGORITHM

RNG = np.random.default_rng(0)
REFERENCE = RNG.normal(size=(30, 2))
BATCH = RNG.normal(size=(20, 2)) + [1.0, 0.0]
OPTIONS = {"levels": 4, "n_directions": 6, "random_state": 0}


def old_table(depth: str) -> RegionTable:
    table = Metric(depth=depth, **OPTIONS).region_table(REFERENCE)
    return replace(table, algorithm=1, version="0.1.0")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> str:
    """Set the version of isodepth to "3.4.5", and return it."""
    for module in (signatures, region_table):
        monkeypatch.setattr(module, "__version__", "3.4.5")
    return "3.4.5"


def test_the_version_is_kept(later: str, tmp_path: Path) -> None:
    old_table("halfspace").save(tmp_path / "table.npz")
    table = RegionTable.load(tmp_path / "table.npz")
    assert (table.algorithm, table.n_features, table.columns) == (1, 2, None)
    assert "v=0.1.0" in table.signature
    assert table.version == "0.1.0"
    fresh = Metric(depth="halfspace", **OPTIONS).region_table(REFERENCE)
    assert table.settings == fresh.settings
    assert fresh.version == later
    assert f"v={later}" in fresh.signature


def test_settings_have_the_names_and_values_of_options(tmp_path: Path) -> None:
    table = Metric(p=float("inf"), **OPTIONS).region_table(BATCH)
    of_matrix = isodepth.pairwise([table, table]).settings
    assert table.settings | {"table_dtype": "float64"} == of_matrix
    assert {name: table.settings[name] for name in OPTIONS} == OPTIONS
    assert (table.settings["p"], table.settings["q"]) == (float("inf"), float("inf"))
    assert not {"seed", "version"} & set(table.settings)
    tables = isodepth.region_tables([BATCH], p=float("inf"), **OPTIONS)
    assert (tables.settings, tables.version) == (table.settings, table.version)
    assert tables[:0].signature == tables.signature == table.signature
    table.save(tmp_path / "table.npz")
    again = RegionTable.load(tmp_path / "table.npz")
    assert again == table
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "table.npz").read_bytes()


def test_tables_of_another_algorithm_are_refused() -> None:
    old = old_table("projection")
    assert old.algorithm == 1
    assert old.distance_to(old) == 0.0
    fresh = Metric(depth="projection", **OPTIONS).region_table(REFERENCE)
    assert fresh.algorithm == ALGORITHM
    for pair in ((old, fresh), (fresh, old)):
        with pytest.raises(InvalidInputError, match=r"algorithm \d .* again"):
            pair[0].distance_to(pair[1])
    with pytest.raises(InvalidInputError, match="algorithm"):
        isodepth.pairwise([fresh, old])


def test_the_algorithm_number_is_kept(tmp_path: Path) -> None:
    old, fresh = old_table("projection"), Metric(depth="projection", **OPTIONS).region_table(BATCH)
    for table in (old, fresh):
        table.save(tmp_path / "table.npz")
        assert RegionTable.load(tmp_path / "table.npz").algorithm == table.algorithm
    stack = isodepth.metric.region_table.RegionTables(old.values[None], old.settings, 2, None, 1)
    assert (stack[0].algorithm, stack[:1].algorithm) == (1, 1)
    assert stack.distances(old).tolist() == [0.0]
    with pytest.raises(InvalidInputError, match="algorithm"):
        stack.distances(fresh)


def changed_file(path: Path, **changes: object) -> Path:
    old_table("halfspace").save(path / "table.npz")
    header, arrays = read_archive(path / "table.npz", KIND)
    arrays["values"] = changes.pop("values", arrays["values"])
    write_archive(path / "changed.npz", KIND, {**header, **changes}, arrays)
    return path / "changed.npz"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": 7}, "algorithm number 7.* up to 3; update"),
        ({"algorithm": 0}, "algorithm number 0"),
        ({"algorithm": "many"}, "algorithm"),
        ({"values": np.zeros((4, 10))}, "do not fit"),
        ({"values": np.zeros((3, 12))}, "do not fit"),
        ({"width": None}, "width"),
        ({"columns": ["a"]}, "not 2 names"),
        ({"columns": [1, 2]}, "not 2 names"),
        ({"columns": "ab"}, "not 2 names"),
    ],
)
def test_headers_that_make_no_sense(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(UnreadableFileError, match=message):
        RegionTable.load(changed_file(tmp_path, **changes))


def test_a_good_header_is_read(tmp_path: Path) -> None:
    table = RegionTable.load(changed_file(tmp_path, columns=["a", "b"], algorithm=1))
    assert table.columns == ("a", "b")


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": None}, {"settings": []}, {"settings": {}}, {"settings": "DR|p=2"},
        {"p": "2x"}, {"p": 0}, {"q": None}, {"q": 0.5}, {"eps": "a"}, {"eps": 7},
        {"levels": "exact"}, {"levels": 5}, {"levels": 4.0}, {"n_directions": 7},
        {"n_directions": True},
        {"directions": None}, {"scale": "given:2:00000000"}, {"normalize": "no"},
        {"random_state": 0.5}, {"nan_policy": None}, {"isodepth_version": 4},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(tmp_path: Path, changes: dict) -> None:
    table = Metric(depth="projection", **OPTIONS).region_table(BATCH)
    table.save(tmp_path / "table.npz")
    header, arrays = read_archive(tmp_path / "table.npz", KIND)
    assert header["settings"] == json_settings(table.settings)
    assert header["isodepth_version"] == isodepth.__version__
    if not {"settings", "isodepth_version"} & {*changes}:
        changes = {"settings": {**header["settings"], **changes}}
    write_archive(tmp_path / "changed.npz", KIND, {**header, **changes}, arrays)
    with pytest.raises(UnreadableFileError):
        RegionTable.load(tmp_path / "changed.npz")


def test_settings_are_read_from_the_file_and_not_from_the_signature(tmp_path: Path) -> None:
    table = Metric(depth="projection", p=float("inf"), **OPTIONS).region_table(BATCH)
    table.save(tmp_path / "table.npz")
    header, arrays = read_archive(tmp_path / "table.npz", KIND)
    write_archive(tmp_path / "changed.npz", KIND, {**header, "signature": "any text"}, arrays)
    again = RegionTable.load(tmp_path / "changed.npz")
    assert again.signature == table.signature
    assert again.distance_to(table) == 0
