"""The value of a cell does not depend on the sample, the file or the batch in which it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.helpers import run_json

import isodepth
from isodepth import scan
from isodepth.errors import InvalidInputError
from isodepth.stream.subsets import subset_pair

pytestmark = pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
OPTIONS: dict[str, Any] = {"n_permutations": 99, "random_state": 0}
CODES = ["01", "02", "03", "04", "05", "06"]


def text_table(n: int, seed: int) -> pd.DataFrame:
    """Return n independent rows of strings, as in a text file; some words are rare."""
    rng = np.random.default_rng(seed)

    def column(*values: str, rare: str | None = None) -> np.ndarray:
        words = rng.choice(values, n).astype(object)
        if rare is not None:
            words[rng.random(n) < 0.006] = rare
        return words

    return pd.DataFrame(
        {
            "size": [f"{value:.2f}" for value in rng.normal(0, 3, n)],
            "word": column("true", "TRUE", "0x1", "01", "2.50", "2024-01-01", " 1", "1", "x"),
            "flag": column("true", "false", rare="unknown"),
            "plain": column("true", "TRUE", "false"),
            "hex": column("0x1", "0x2", "0xA"),
            "code": column(*CODES, rare="A1"),
            "padded": column("01", "02", "10"),
            "price": column("2.50", "1.25", "3", "1e1"),
            "spaces": column(" 1", "2", "3 "),
            "level": column("1", "2", "3", rare="none of these"),
            "day": column("2024-01-01", "2024-01-02", "2024-02-01"),
            "dates": column("2024-01-01", "2024-01-02", rare="unknown"),
        }
    )


def as_text(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def write(table: pd.DataFrame, n: int, folder: Path) -> None:
    """Write the first n rows to x.csv and x.parquet, and the others to y.csv and y.parquet.

    all.csv has all rows.
    """
    table.to_csv(folder / "all.csv", index=False)
    for name, part in (("x", table[:n]), ("y", table[n:])):
        part.to_csv(folder / f"{name}.csv", index=False)
        part.to_parquet(folder / f"{name}.parquet", index=False)


def pair_of(form: str, folder: Path, n: int) -> Any:
    """Return both samples in a form, one of `FORMS`; x has n rows."""
    if form == "text":
        return [as_text(folder / f"{name}.csv") for name in "xy"]
    if form == "csv and parquet":
        return [scan(folder / "x.csv"), scan(folder / "y.parquet")]
    if form.startswith("converted"):
        whole = pd.read_csv(folder / "all.csv")
        pair = [whole[:n], whole[n:]]
        if form == "converted":
            return pair
        for name, part in zip("xy", pair, strict=True):
            part.to_parquet(folder / f"{name}-converted.parquet", index=False)
        return [scan(folder / f"{name}-converted.parquet") for name in "xy"]
    ending, _, chunks = form.partition(" in ")
    return [scan(folder / f"{n}.{ending}", chunk_rows=64 if chunks else None) for n in "xy"]


FORMS = (
    "csv", "csv in chunks", "parquet", "csv and parquet", "converted", "converted parquet",
    "csv by command", "parquet by command",
)  # fmt: skip


def answers(form: str, folder: Path, n: int) -> list[Any]:
    """Return p-values and changes of a test and a monitor, and the counts of the monitor."""
    if not form.endswith("command"):
        x, y = pair_of(form, folder, n)
        result = isodepth.two_sample_test(x, y, **OPTIONS)
        monitor = isodepth.Monitor(x, random_state=0)
        verdict = monitor.check(y)
        tests = [(each.column, each.pvalue) for each in result.column_tests]
        changes = [change.text for change in verdict.changes]
    else:
        files = [folder / f"{name}.{form.partition(' ')[0]}" for name in "xy"]
        options = "--n-permutations", OPTIONS["n_permutations"], "--random-state", 0
        found = run_json("test", *files, *options)
        tests = [(each["column"], each["pvalue"]) for each in found["column_tests"]]
        run_json("monitor", "fit", files[0], "-o", folder / "m.npz", "--random-state", 0)
        checked = run_json("monitor", "check", folder / "m.npz", files[1])
        monitor = isodepth.Monitor.load(folder / "m.npz")
        changes = [change["text"] for change in checked["changes"]]
    group = monitor._state.groups[None]
    counts = [each.ones.tolist() for each in (group.reference, *group.sums.runs)]
    pvalues = (
        (result.pvalue, verdict.pvalue)
        if not form.endswith("command")
        else (found["pvalue"], checked["pvalue"])
    )
    return [tests, changes, counts, pvalues]


_EXPECTED: dict[int, list[Any]] = {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2))])
def test_all_forms_of_a_table_give_equal_answers(seed: int, form: str, tmp_path: Path) -> None:
    """P-values and counts of monitors are equal, although some words are in one part only."""
    n, table = 400, text_table(480, seed)
    lacking = {name for name in table if {*table[name][:n]} != {*table[name][n:]}}
    assert {"flag", "code", "level"} & lacking
    write(table, n, tmp_path)
    if seed not in _EXPECTED:
        _EXPECTED[seed] = answers("text", tmp_path, n)
    assert answers(form, tmp_path, n) == _EXPECTED[seed]
    assert len(_EXPECTED[seed][0]) == 10  # all columns but the dates


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_that_a_library_reads_as_other_types(library: str, tmp_path: Path) -> None:
    """Types in memory differ between two files: the answer is that of text, or an error."""
    read = pytest.importorskip(library).read_csv
    n, table, refused = 400, text_table(480, 3), set()
    rare = {"flag": "unknown", "code": "A1", "level": "none of these"}
    for name, word in rare.items():  # rare words in X only
        table.loc[n:, name] = table.loc[n:, name].where(lambda v, w=word: v != w, table[name][0])
        table.loc[5, name] = word
    write(table, n, tmp_path)
    for name in table:
        pair = [read(tmp_path / f"{sample}.csv")[[name]] for sample in "xy"]
        expected = [scan(tmp_path / f"{sample}.csv", [name]) for sample in "xy"]
        try:
            found = isodepth.two_sample_test(*pair, **OPTIONS)
        except isodepth.errors.IsodepthError as error:
            with pytest.raises(InvalidInputError):
                isodepth.Monitor(pair[0], random_state=0).check(pair[1])
            refused |= {name} if "read the column as text" in str(error) else set()
            continue
        assert found.pvalue == isodepth.two_sample_test(*expected, **OPTIONS).pvalue, name
        verdicts = [isodepth.Monitor(x, random_state=0).check(y) for x, y in (pair, expected)]
        assert verdicts[0].pvalue == verdicts[1].pvalue, name
    assert refused == {"code"}


def test_the_level_with_a_rare_word(tmp_path: Path) -> None:
    """Booleans and one rare word in two files: no split of the rows is significant."""
    rejected = {"scan": 0, "pandas": 0, "command": 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        flag = rng.choice(["true", "false", "unknown"], 1100, p=[0.5, 0.495, 0.005])
        write(pd.DataFrame({"flag": flag}), 1000, tmp_path)
        paths = [tmp_path / f"{name}.csv" for name in "xy"]
        for form, read in (("scan", scan), ("pandas", pd.read_csv)):
            result = isodepth.two_sample_test(*map(read, paths), **OPTIONS)
            rejected[form] += result.pvalue <= 0.05
        found = run_json("test", *paths, "--n-permutations", 19) if seed < 4 else {"pvalue": 1}
        rejected["command"] += found["pvalue"] <= 0.05
    assert max(rejected.values()) <= 3, rejected


def test_a_monitor_reads_batches_like_its_reference(tmp_path: Path) -> None:
    """Codes with leading zeros and one rare word: a batch often lacks the word."""
    rng = np.random.default_rng(0)

    def rows(n: int) -> pd.DataFrame:
        return pd.DataFrame({"code": rng.choice([*CODES, "A1"], n, p=[0.995 / 6] * 6 + [0.005])})

    rows(5000).to_csv(tmp_path / "x.csv", index=False)
    monitor = isodepth.Monitor(scan(tmp_path / "x.csv"), random_state=0)
    path = tmp_path / "y.csv"
    for _ in range(6):
        rows(200).to_csv(path, index=False)
        assert not monitor.check(scan(path)).alarm
        assert not monitor.check(as_text(path)).alarm
    batch = pd.DataFrame({"code": [1, 2, 3]})
    for integers in (batch, scan(batch), pa.Table.from_pandas(batch)):
        with pytest.raises(
            InvalidInputError, match=r"strings such as '01' .* and (int|float)64 in"
        ):
            monitor.check(integers)


def test_monitors_of_codes_and_booleans_in_memory() -> None:
    """The reference has types; batches of text are read like it, and the other way around."""

    def check(reference: Any, batch: Any, kinds: Any = None) -> list[str]:
        x, y = (pd.DataFrame({"v": values}) for values in (reference, batch))
        return [c.text for c in isodepth.Monitor(x, kinds=kinds, random_state=0).check(y).changes]

    code = {"v": "category"}
    numbers, words = [1, 2, 3] * 60, ["1", "2", "3"] * 60
    for x, y, kinds in (
        (numbers, words, code), (words, numbers, code), (["1.0", "2.50"] * 60, [1, 2.5] * 60, code),
        ([1, 2.5] * 60, ["1.0", "2.50"] * 60, code), ([*words, "x"], numbers, None),
        (["true", "no", "false"] * 60, [True, False] * 9, None),
        ([True, False] * 60, ["TRUE"], None),
        (["true", "FALSE"] * 60, [True, False] * 9, None), ([True, False] * 60, [0, 1] * 9, None),
    ):  # fmt: skip
        changes = check(x, y, kinds)
        assert not any(": 0% ->" in text for text in changes), (x[0], changes)
    for x, y, kinds in (
        (["01", "02"] * 60, [1, 2] * 60, code), ([1, 2] * 60, ["01", "02"] * 60, code),
        (["1", "1.0", "a"] * 60, [1] * 60, None), (["true", "TRUE", "no"] * 60, [True], None),
        (["yes", "no"] * 60, [True, False], None), (["yes", "no"] * 60, [1, 2], code),
    ):  # fmt: skip
        with pytest.raises(InvalidInputError, match="column 'v'"):
            check(x, y, kinds)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1, 2] * 9, ["01", "02", "A1"] * 9),
        ([1, 2] * 9, ["1", "1.0", "A1"] * 9),
        ([True, False] * 9, ["true", "TRUE", "unknown"] * 9),
        ([True, False] * 9, ["true", "1", "0"] * 9),
    ],
)
def test_two_strings_of_a_value_are_refused(x: list[Any], y: list[Any]) -> None:
    frames = [pd.DataFrame({"v": values}) for values in (x, y)]
    for pair in (frames, frames[::-1], [*map(scan, frames)]):
        with pytest.raises(InvalidInputError, match=r"dtype=\{'v': str\}"):
            isodepth.two_sample_test(*pair, **OPTIONS)


def test_categories_of_text_files_are_text(tmp_path: Path) -> None:
    """With kinds="category" the strings of a file are compared, in Python and by the command."""
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame({"v": rng.choice(words, 60)}) for words in (["01", "1"], ["1"]))
    for name, part in (("x", x), ("y", y)):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    paths, kinds = [tmp_path / f"{name}.csv" for name in "xy"], {"v": "category"}
    expected = isodepth.two_sample_test(x, y, kinds=kinds, **OPTIONS)
    assert expected.pvalue <= 0.05
    found = isodepth.two_sample_test(*map(scan, paths), kinds=kinds, **OPTIONS)
    assert (found.pvalue, found.headline) == (expected.pvalue, expected.headline)
    command = run_json(
        "test", *paths, "--category", "v", "--random-state", 0, "--n-permutations", 99
    )
    assert command["pvalue"] == expected.pvalue
    monitor = isodepth.Monitor(scan(paths[0]), kinds=kinds, random_state=0)
    assert monitor.check(scan(paths[1])).pvalue < 1e-6


def test_decimal_commas_remain_in_columns_of_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;v\n" + "1,5;1,50\n2,5;x\n3,25;x\n" * 20)
    pair = subset_pair(scan(path), scan(path))
    assert pair.x["a"].to_pylist()[:3] == [1.5, 2.5, 3.25]
    assert {*pair.x["v"].to_pylist()} == {"1,50", "x"}


def test_columns_of_record_batches_have_names() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal([0, 9], 1, (60, 2))
    batches = [
        pa.RecordBatch.from_pydict({"a": values[:30, 0], "b": values[:30, 1]}),
        pa.RecordBatch.from_pydict({"b": values[30:, 1], "a": values[30:, 0]}),
    ]
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    expected = isodepth.two_sample_test(*tables, **OPTIONS).pvalue
    assert expected > 0.05
    for read in (scan, lambda batch: scan([batch]), lambda batch: scan(lambda: iter([batch]))):
        assert isodepth.two_sample_test(*map(read, batches), **OPTIONS).pvalue == expected
    with pytest.raises(InvalidInputError, match=r"from_batches\(\[X\]\)"):
        isodepth.two_sample_test(*batches, **OPTIONS)
    with pytest.raises(InvalidInputError, match="RecordBatch"):
        isodepth.Monitor(batches[0])


def test_events_are_selected_without_labels() -> None:
    """The values of a column whose events are counted do not depend on the sample of a row."""
    rng = np.random.default_rng(0)
    words = np.array([f"v{i % 150}" for i in range(4000)], dtype=object)
    words[:100] = [f"rare{i}" for i in range(100)]  # more than 200 values in both together
    for order in (np.arange(4000), rng.permutation(4000)):
        frames = [pd.DataFrame({"v": words[i]}) for i in (order[:400], order[400:])]
        pair = subset_pair(*map(scan, frames), 300, {"v": "category"}, 0)
        tested = {*pair.x["v"].to_pylist(), *pair.y["v"].to_pylist()}
        assert pair.all_categories() == [sorted(tested)]
    few = [pd.DataFrame({"v": each}) for each in (words[:500], words[500:700])]
    few[0].loc[5:, "v"] = "a"
    pair = subset_pair(*map(scan, few), 3, {"v": "category"}, 0)
    assert pair.all_categories() == [sorted({*few[0]["v"], *few[1]["v"]})]
