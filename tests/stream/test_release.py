"""Results for sources can release the random rows that they keep."""

from __future__ import annotations

import gc
import pickle
import weakref
from pathlib import Path
from typing import Any

import pytest
from stream.tables import mixed_frame, scanned

import isodepth

OPTIONS: dict[str, Any] = {"random_state": 0, "n_permutations": 19}


def result_of(kind: str, folder: Path) -> Any:
    """Return a test of two folders of files, or a comparison if `kind` is "comparison"."""
    frames = {"x": mixed_frame(3000, 1), "y": mixed_frame(3000, 2, 0.5)}
    sources = [scanned("parquet", frame, folder / name) for name, frame in frames.items()]
    if kind == "test":
        return isodepth.two_sample_test(*sources, max_rows=500, **OPTIONS)
    options = {"nan_policy": "omit", "n_directions": 9, "levels": 20, "refine": 0}
    return isodepth.compare(*sources, random_state=0, **options)


@pytest.mark.parametrize("kind", ["test", "comparison"])
@pytest.mark.usefixtures("without_pictures")
def test_the_random_rows_are_released(kind: str, tmp_path: Path) -> None:
    result = result_of(kind, tmp_path)
    result.suspicious_rows()
    rows = pickle.dumps((result._kept_rows.pair.x, result._kept_rows.pair.y))
    assert len(pickle.dumps(result)) > len(rows)
    pair, small = weakref.ref(result._kept_rows.pair), result.without_rows()
    assert small.to_dict() == result.to_dict()
    assert len(pickle.dumps(small)) < 0.5 * len(rows)
    small.report(tmp_path / "report.html")
    with pytest.raises(isodepth.errors.InvalidInputError, match="without_rows"):
        small.suspicious_rows()
    del result
    gc.collect()
    assert pair() is None


def test_the_repr_of_a_file_says_that_its_number_of_rows_is_unknown(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    assert "x.csv: unknown number of rows, 2 columns, float64)" in repr(isodepth.scan(path))
