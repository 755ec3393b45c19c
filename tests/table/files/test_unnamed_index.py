"""The unnamed first column that `DataFrame.to_csv()` writes is left out as the index."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.errors import ColumnWarning, UnreadableFileError
from isodepth.table.readers import ReadOptions, read_table


@pytest.fixture
def paths(tmp_path):
    rng = np.random.default_rng(0)
    for name, first in (("x", 0), ("y", 500)):
        index = rng.permutation(1000)[:100] + first  # with gaps, not in order
        frame = pd.DataFrame({"a": rng.normal(size=100), "b": list("abcd") * 25}, index=index)
        frame.to_csv(tmp_path / f"{name}.csv")
    return tmp_path / "x.csv", tmp_path / "y.csv"


def test_the_index_is_left_out_with_a_note(paths):
    read = read_table(paths[0], ReadOptions(text="keep"))
    assert read.columns == read.names == ("a", "b")
    assert read.frame.equals(read_table_without_index(paths[0]))
    (note,) = read.notes
    assert note == f"the first column of {paths[0]} has no name and is left out as the index"


def read_table_without_index(path):
    frame = pd.read_csv(path, index_col=0)
    frame.to_csv(path.with_suffix(".other.csv"), index=False)
    options = ReadOptions(text="keep")
    return read_table(path.with_suffix(".other.csv"), options).frame


def test_scan_leaves_out_the_index_with_a_warning(paths):
    with pytest.warns(ColumnWarning, match="has no name and is left out as the index"):
        sources = [isodepth.scan(path) for path in paths]
    assert sources[0].columns == ("a", "b")
    frames = [pd.read_csv(path, index_col=0) for path in paths]
    options = {"n_permutations": 99, "random_state": 0}
    of_sources = isodepth.two_sample_test(*sources, **options)
    assert of_sources.pvalue == isodepth.two_sample_test(*frames, **options).pvalue
    monitor = isodepth.Monitor(sources[0], random_state=0)
    assert set(monitor.columns) == {"a", "b"}
    assert not monitor.check(sources[1]).alarm


def test_other_columns_need_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,,b\n1,2,3\n4,5,6\n")
    with pytest.raises(UnreadableFileError, match="column 2 has no name in the header"):
        read_table(path)
    path.write_text(",\n1,2\n")
    with pytest.raises(UnreadableFileError, match="column 2 has no name in the header"):
        isodepth.scan(path)
