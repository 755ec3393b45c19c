"""Input files of all commands: formats, selected columns, and notes about the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.helpers import NAMES, QUICK, refusal, run, run_json, sample, save, write

import isodepth

RAW = (
    "origin,temp,when,dewp\nEWR,1.0,2013-06-01,2.5\nJFK,2.0,2013-06-02,1.5\nEWR,4.0,2013-06-03,0\n"
)
ENDINGS = (".csv", ".tsv", ".csv.gz", ".parquet", ".npy")


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return save(tmp_path / "a.csv", sample(0))


def as_kind(folder: Path, ending: str) -> Path:
    """Write a fixed table in the format of the file ending `ending`, and return the path."""
    frame = pd.DataFrame(sample(1), columns=list(NAMES))
    path = folder / f"b{ending}"
    if ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".npy":
        np.save(path, sample(1))
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in ending else ",")
    return path


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_kind_of_file_and_standard_input(tmp_path: Path, a: Path, ending: str) -> None:
    b = as_kind(tmp_path, ending)
    options = {"n_directions": 20, "scale": "pooled", "random_state": 0}
    wanted = isodepth.distance(sample(0), sample(1), **options)
    assert run_json("compare", a, b, *QUICK)["distance"] == pytest.approx(wanted, rel=1e-12)
    piped = run("compare", a, "-", *QUICK, stdin=b.read_bytes())
    assert f"distance {wanted:.3g}" in piped.stdout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("b.csv", b"temp,dewp,wind\n1,2,x\n", "have a missing value (wind (1))"),
        ("b.csv", b"temp,dewp,wind\n1,2,nan\n", "have a missing value (wind (1))"),
        ("b.csv", b"1,2\n3,4\n", "same number of columns"),
        ("b.csv", b"t,d,rain\n1,2,3\n", "they have no column in common"),
        ("b.xls", b"1,2,3\n", ".parquet"),
        ("b.csv", b"\xe4,d\n1,2\n", "not UTF-8 text (byte 0xe4), perhaps Latin-1 or"),
        ("b.csv", bytes(range(256)), "it is not a text file"),
        ("b.csv", b"u,1\nv,2\n", "if the file has no header, add a first row with the names"),
    ],
)
def test_bad_files(tmp_path: Path, a: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert said in refusal("compare", a, tmp_path / name)
    assert "there is no such file" in refusal("compare", a, tmp_path / "absent.csv")


@pytest.mark.usefixtures("without_pictures")
def test_every_column_of_a_mixed_table_is_accounted_for(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    header = "\ufefforigin;zip;late;when;note;size\n"  # a byte order mark, decimal commas
    rows = "".join(
        f'"{"EJ"[i % 2]};R";{rng.integers(3)};{i % 4 == 0};2013-06-{i % 28 + 1:02};n{i};{i / 4}\n'
        for i in range(60)
    ).replace(".", ",")
    raw = write(tmp_path / "raw.csv", header + rows)
    options = (*QUICK, "--n-permutations", 19)
    found = run_json("compare", raw, raw, *options, "--category", "zip", "--numeric", "late,when")
    kinds = {each["column"]: (each["kind"], each["use"]) for each in found["kinds"]}
    assert kinds == {
        "origin": ("category", "category"), "zip": ("category", "category"),
        "late": ("numeric", "numeric"), "when": ("numeric", "numeric"),
        "note": ("identifier", "omit"), "size": ("numeric", "numeric"),
    }  # fmt: skip
    assert (found["distance"], found["columns"]) == (0, ["late", "when", "size"])
    assert {each["column"] for each in found["test"]["column_tests"]} == kinds.keys() - {"note"}
    alone = run_json("test", raw, raw, "--columns", "origin", *options[2:])
    assert "distance" not in alone
    assert alone["pvalue"] == 1
    said = refusal("compare", raw, raw, "--columns", "origin")
    assert "no numeric column to compare (categories: origin); the two-sample test" in said
    page = tmp_path / "report.html"
    run("report", raw, "--by", "origin", "-o", page, *QUICK, "--n-permutations", 99)
    text = page.read_text("utf-8")
    assert "origin J;R differs from origin E;R" in text
    assert "--blocks cannot be combined with --by" in refusal(
        "report", raw, "--by", "origin", "--blocks", "zip", "-o", page
    )


def test_typing_errors_in_numbers_are_named(tmp_path: Path) -> None:
    slip = write(tmp_path / "slip.csv", "a,b\n1,2\n3,4\n5,x\n6,7\n")
    good = write(tmp_path / "good.csv", "a,b\n1,2\n3,4\n")
    found = run_json("compare", slip, good, *QUICK)
    assert "check column 'b': values that are not numbers, such as 'x', are" in str(found)
    assert found["missing"]["n_dropped"] == [1, 0]
    assert run_json("compare", slip, slip, "--category", "b", *QUICK)["columns"] == ["a"]
    text = write(tmp_path / "text.csv", "a,b\n1,x\n3,y\n")
    found = run_json("compare", good, text, *QUICK)
    assert found["columns"] == ["a"]
    assert "numbers in X, strings in Y: 2 of 4 values are numbers such as '2'" in str(found)


def test_rounded_integers_are_reported_once_per_table(tmp_path: Path) -> None:
    ids = [3**35 - 7**18 * i for i in range(30)]
    frame = pd.DataFrame({"id": ids, "kind": ["u", "v"] * 15, "a": np.arange(30.0)})
    x, y = tmp_path / "x.csv", tmp_path / "y.csv"
    frame.to_csv(x, index=False)
    (frame.assign(id=frame["id"] + 5)).to_csv(y, index=False)
    for columns in ("id,kind,a", "id,a"):
        said = run("test", x, y, "--columns", columns, "--n-permutations", 9).stderr
        assert said.count("beyond 2**53") == 2


def test_declared_categories_keep_their_zeros(tmp_path: Path) -> None:
    codes = write(tmp_path / "codes.csv", "a,code\n" + "1,01\n2,NA\n3,02\n4,01\n" * 3)
    options = ("--category", "code", "--nan-policy", "keep", "--n-permutations", 9)
    other = write(tmp_path / "other.csv", "a,code\n" + "1,03\n2,03\n3,03\n4,01\n" * 3)
    found = run_json("test", codes, other, *options)
    assert {"01", "02", "03", "(missing)"} == {share["value"] for share in found["category_shares"]}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--drop", "origin,when"),
        ("--drop", "origin", "--drop", "when"),
        ("--numeric-only",),
        ("--columns", "temp,dewp"),
        ("--columns", "temp", "--columns", "dewp"),
    ],
)
def test_columns_are_chosen(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    raw = write(tmp_path / "raw.csv", RAW)
    assert "--numeric-only or --drop origin,when" in refusal("pairwise", raw, raw)
    found = run_json("compare", raw, raw, "--depth", "irw", *QUICK, *arguments)
    assert (found["columns"], found["distance"]) == (["temp", "dewp"], 0)
    assert found["left_out"] == ([] if "--columns" in arguments else ["origin", "when"])
    assert bool(found["warnings"]) == ("--numeric-only" in arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--columns", "temp,dew"), "has no column 'dew'; did you mean 'dewp'?"),
        (("--drop", "dew"), "has no column 'dew'"),
        (("--category", "dew"), "has no column 'dew'; did you mean 'dewp'?"),
        (("--drop", "temp,dewp,wind"), "no column of"),
        (("--columns", "temp,dewp,temp"), "--columns must have distinct names, got 'temp' twice"),
        (("--category", "temp", "--category", "temp"), "--category must have distinct names"),
        (("--columns", "temp,"), "--columns must have nonempty names, got 'temp,'"),
    ],
)
def test_wrong_columns(a: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in refusal("compare", a, a, *arguments)


def test_columns_are_matched_by_name(tmp_path: Path, a: Path) -> None:
    b = save(tmp_path / "b.csv", sample(1))
    turned = save(tmp_path / "turned.csv", sample(1)[:, [2, 0, 1]], ("wind", "temp", "dewp"))
    wide = save(tmp_path / "wide.csv", np.column_stack([sample(1), np.ones(30)]), (*NAMES, "id"))
    np.save(tmp_path / "b.npy", sample(1))
    wanted = run_json("compare", a, b, *QUICK)
    for other in ([turned], [tmp_path / "b.npy"], [wide, "--drop", "id"]):
        found = run_json("compare", a, *other, *QUICK)
        assert found["distance"] == wanted["distance"]
        assert found["columns"] == list(NAMES)


def test_numeric_only_leaves_out_a_column_of_all_tables(tmp_path: Path) -> None:
    words = write(tmp_path / "words.csv", "a,b,c\n1,2,x\n3,4,7\n5,1,8\n2,7,9\n")
    numbers = write(tmp_path / "numbers.csv", "a,b,c\n1,2,3\n3,4,7\n6,1,8\n2,9,9\n")
    for command in ("pairwise", "compare"):
        for order in ((words, numbers), (numbers, words)):
            found = run_json(command, *order, "--numeric-only", *QUICK)
            assert found["left_out"] == ["c"]
            note = f"left out of {numbers}: 'c' (not numeric in another table)"
            assert note in found["warnings"]
    alone = write(tmp_path / "alone.csv", "c\n3\n4\n5\n")
    assert "none of its columns is numeric in all tables" in refusal(
        "pairwise", words, alone, "--numeric-only"
    )


def test_a_vanished_column_is_listed(tmp_path: Path, a: Path) -> None:
    b = save(tmp_path / "b.csv", sample(1), ("temp", "rain", "wind"))
    found = run_json("compare", a, b, *QUICK)
    assert found["columns"] == ["temp", "wind"]
    notes = {each["column"]: each["note"] for each in found["kinds"] if each["use"] == "omit"}
    assert notes == {"dewp": "only in X", "rain": "only in Y"}
    said = run("compare", a, b, *QUICK).stdout
    assert "check column 'dewp': only in X; check column 'rain': only in Y" in said


def test_notes(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "1,2\n3,4\n5,1\n")
    result = run("compare", path, path, "--json", *QUICK)
    note = f"{path} has no header: its first row is read as data"
    assert f"isodepth: note: {note}" in result.stderr
    assert note in result.stdout


def test_missing_values(tmp_path: Path) -> None:
    holes = write(tmp_path / "a.csv", "a,b\n1,2\n,3\n4,NA\n5,6\n7,9\n")
    whole = write(tmp_path / "b.csv", "a,b\n1,2\n3,4\n0,1\n")
    assert "remove --nan-policy raise" in refusal("compare", holes, whole, "--nan-policy", "raise")
    given = ("compare", holes, whole, "--nan-policy", "omit", "--depth", "irw", "--scale", "none")
    found = run_json(*given)
    assert (found["n_rows"], found["n_used_rows"]) == ([5, 3], [3, 3])
    assert found["missing"]["n_dropped"] == [2, 0]
    left = [[1, 2], [5, 6], [7, 9]], [[1, 2], [3, 4], [0, 1]]
    assert found["distance"] == isodepth.distance(*left, depth="irw", random_state=0)


def test_leading_zeros_are_noted(tmp_path: Path) -> None:
    lines = ["v,zip,day"] + [f"{i}.5,{i * 97:05d},{i}" for i in range(1, 20)]
    path = write(tmp_path / "x.csv", "\n".join(lines))
    note = "has numbers with leading zeros in 'zip' (00097), read without the zeros; choose"
    options = ("--n-permutations", 9)
    assert f"{path} {note} --category if" in run("test", path, path, *options).stderr
    assert f"{note} --drop if" in run("depth", path, *QUICK).stderr
    for arguments in (("--category", "zip"), ("--drop", "zip")):
        assert "zeros" not in run("test", path, path, *options, *arguments).stderr


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_words_that_do_not_occur_are_noted(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"x{ending}", tmp_path / f"y{ending}"]
    for path, word in zip(paths, ("?", "u"), strict=True):
        frame = pd.DataFrame({"v": [-999.0, 1.5, 2.5] * 4, "k": ["a", "b", word] * 4})
        frame.to_csv(path, index=False) if ending == ".csv" else frame.to_parquet(path)
    found = run_json("test", *paths, "--missing", "?,n/k,-999", "--n-permutations", 9)["warnings"]
    start = "--missing {0} has no effect: no cell of " + f"{paths[0]}, {paths[1]} is the string"
    for word, end in (("n/k", ""), ("-999", ", although some are equal as numbers")):
        assert f"{start.format(word)} {word!r}{end}" in found
    assert len(found) == 2


def test_csv_and_parquet_give_the_same_answer(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for name, mean in (("x", 1500), ("y", 3000)):
        prices = [f"${value:,.2f}" for value in rng.normal(mean, 200, 40)]
        frame = pd.DataFrame({"price": prices, "land": rng.choice(["NA", "DE", "US"], 40)})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_parquet(tmp_path / f"{name}.parquet")
    answers = []
    for endings in (("csv", "csv"), ("csv", "parquet"), ("parquet", "parquet")):
        files = [tmp_path / f"{name}.{end}" for name, end in zip("xy", endings, strict=True)]
        answers.append(run_json("test", *files, "--n-permutations", 19))
        del answers[-1]["files"], answers[-1]["code"]  # they contain the paths
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["pvalue"] == 0.05
    assert answers[0]["changes"][0]["columns"] == ["price"]
    kinds = {each["column"]: each["note"] for each in answers[0]["kinds"]}
    assert kinds["price"].startswith("read from strings such as '$")
    assert "numbers: price (read from strings" in run("test", *files, "--n-permutations", 19).stdout
    words = ("--missing", "NA", "--nan-policy", "keep", "--n-permutations", 19)
    strict = ("--nan-policy", "raise", *words[4:])
    assert "'land' of X has" in refusal("test", *files, *words[:2], *strict)
    shares = run_json("test", *files, *words)["category_shares"]
    assert "NA" not in {each["value"] for each in shares}


def test_times_of_day_are_strings_in_files_and_in_folders(tmp_path: Path) -> None:
    """Times such as "06:30" were left out of a file, and compared as a category in a folder."""
    paths = []
    for name in "xy":
        (tmp_path / name).mkdir()
        rows = [f"{k % 24:02d}:00,{k % 7 + k / 60}" for k in range(60)]
        paths += [write(tmp_path / folder, "\n".join(["time,v", *rows])) for folder in
                  (f"{name}.csv", f"{name}/a.csv")]  # fmt: skip
    files, folders = (paths[0], paths[2]), (tmp_path / "x", tmp_path / "y")
    kinds = [
        run_json("test", *pair, "--n-permutations", 19)["kinds"][0] for pair in (files, folders)
    ]
    assert kinds[0] == kinds[1]
    frame = pd.read_csv(files[0])
    expected = isodepth.two_sample_test(frame, frame, n_permutations=19).kinds[0]
    assert kinds[0]["kind"] == expected.kind == "category"


def test_an_option_for_labels_names_one_column(tmp_path: Path) -> None:
    """Of several names all but the first were ignored."""
    path = write(
        tmp_path / "t.csv", "a,b,v\n" + "".join(f"{k % 2},{k % 3},{k}\n" for k in range(60))
    )
    for arguments in (
        ("pairwise", path, "--by", "a,b"),
        ("test", path, path, "--blocks", "a,b"),
        ("monitor", "fit", path, "-o", tmp_path / "m.npz", "--groups", "a,b"),
    ):
        assert "'a,b' names several columns" in refusal(*arguments)


def test_rows_without_a_label_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "g,v\n1,2\n,3\n2,4\n2,5\n1,6\n")
    said = refusal("report", path, "--by", "g", "-o", tmp_path / "r.html")
    assert "1 row has no value in column 'g'; remove such rows, or fill in the values" in said
