"""The command line: the same numbers as the library, and one clear line on bad input."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import isodepth
from isodepth.cli.main import main


def run(capsys, *arguments):
    """Exit code, stdout and stderr of the command."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse leaves this way
        code = stop.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def save(path, points, names=None):
    header = ",".join(names) if names else ""
    np.savetxt(path, points, fmt="%.17g", delimiter=",", header=header, comments="")
    return path


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    shift = [0, 5, 0]
    return rng.standard_normal((40, 3)), rng.standard_normal((50, 3)) + shift


@pytest.fixture
def files(tmp_path, points):
    names = ("radius", "texture", "area")
    return tuple(
        save(tmp_path / f"{letter}.csv", table, names)
        for letter, table in zip("ab", points, strict=True)
    )


# -- what it prints -------------------------------------------------------------------------------


def test_json_holds_what_the_library_finds(capsys, files, points):
    code, out, err = run(capsys, "compare", *files, "--json", "--directions", 64)
    expected = isodepth.compare(*points, n_directions=64, random_state=0)
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["distance"] == expected.distance
    assert report["signature"] == expected.signature
    assert report["worst"]["level"] == expected.largest_gap.level
    assert report["worst"]["gap"] == expected.largest_gap.gap
    assert report["worst"]["direction"] == expected.largest_gap.direction.tolist()
    assert report["columns"] == ["radius", "texture", "area"]
    assert [sample["rows"] for sample in report["samples"]] == [40, 50]


def test_the_shifted_column_is_named(capsys, files):
    _, out, _ = run(capsys, "compare", *files, "--json")
    columns = json.loads(out)["worst"]["columns"]
    assert columns[0]["name"] == "texture"
    assert sum(column["share"] for column in columns) == pytest.approx(1)
    code, out, err = run(capsys, "compare", *files)
    assert (code, err) == (0, "")
    assert "carried by   texture" in out


def test_text_holds_distance_level_and_signature(capsys, files, points):
    _, out, _ = run(capsys, "compare", *files)
    expected = isodepth.compare(*points, random_state=0)
    assert f"{expected.distance:.6g}" in out
    assert f"{expected.largest_gap.level:.4g}" in out
    assert expected.signature in out


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--depth", "halfspace"], {"depth": "halfspace"}),
        (["--eps", "0.3"], {"eps": 0.3}),
        (["--p", "inf"], {"p": np.inf}),
        (["--p", "1"], {"p": 1}),
        (["--q", "2"], {"q": 2}),
        (["--q", "inf"], {}),
        (["--scale", "pooled"], {"scale": "pooled"}),
        (["--scale", "reference", "--missing", "omit"], {"scale": "reference"}),
        (["--directions", "17"], {"n_directions": 17}),
        (["--family", "orthogonal"], {"directions": "orthogonal"}),
        (["--levels", "10"], {"levels": 10}),
        (
            ["--levels", "monte-carlo", "--n-levels", "5"],
            {"levels": "monte-carlo", "n_levels": 5},
        ),
        (["--refine", "0"], {"refine": 0}),
        (["--seed", "3"], {"random_state": 3}),
    ],
)
def test_every_setting_reaches_the_metric(capsys, files, points, arguments, options):
    code, out, _ = run(capsys, "compare", *files, "--json", *arguments)
    assert code == 0
    expected = isodepth.Metric(**{"random_state": 0, **options}).compare(*points)
    assert json.loads(out)["signature"] == expected.signature
    assert json.loads(out)["distance"] == expected.distance


def test_the_signature_gives_the_number_back(capsys, files, points):
    _, out, _ = run(capsys, "compare", *files, "--json", "--eps", "0.25")
    report = json.loads(out)
    again = isodepth.Metric.from_signature(report["signature"]).distance(*points)
    assert again == report["distance"]


def test_runs_are_reproducible(capsys, files):
    assert run(capsys, "compare", *files) == run(capsys, "compare", *files)


def test_plot_is_written(capsys, files, tmp_path):
    pytest.importorskip("matplotlib")
    code, _, err = run(capsys, "compare", *files, "--plot", tmp_path / "gaps.png")
    assert (code, err) == (0, "")
    assert (tmp_path / "gaps.png").read_bytes().startswith(b"\x89PNG")


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"isodepth {isodepth.__version__}\n", "")


def test_degenerate_depth_is_a_warning_of_one_line(capsys, tmp_path):
    rng = np.random.default_rng(1)
    a = save(tmp_path / "a.csv", rng.standard_normal((4, 3)), "xyz")
    b = save(tmp_path / "b.csv", rng.standard_normal((4, 3)), "xyz")
    code, out, err = run(capsys, "compare", a, b, "--json", "--depth", "halfspace")
    assert code == 0
    assert err.startswith("isodepth: warning: ")
    assert err.count("\n") == len(json.loads(out)["warnings"]) >= 1


# -- columns --------------------------------------------------------------------------------------


def test_columns_are_matched_by_name(capsys, files, points, tmp_path):
    a, b = files
    turned = save(tmp_path / "turned.csv", points[1][:, [2, 0, 1]], ("area", "radius", "texture"))
    as_it_was = json.loads(run(capsys, "compare", a, b, "--json")[1])
    reordered = json.loads(run(capsys, "compare", a, turned, "--json")[1])
    assert reordered["distance"] == as_it_was["distance"]
    assert reordered["worst"] == as_it_was["worst"]


def test_different_names_are_refused_and_listed(capsys, files, points, tmp_path):
    other = save(tmp_path / "other.csv", points[1], ("radius", "weight", "area"))
    code, out, err = run(capsys, "compare", files[0], other)
    assert (code, out) == (2, "")
    assert "'texture' is only in" in err
    assert "'weight' is only in" in err
    assert "area" not in err


def test_names_of_one_table_serve_for_both(capsys, files, points, tmp_path):
    np.save(tmp_path / "b.npy", points[1])
    named = json.loads(run(capsys, "compare", *files, "--json")[1])
    mixed = json.loads(run(capsys, "compare", files[0], tmp_path / "b.npy", "--json")[1])
    assert mixed["columns"] == ["radius", "texture", "area"]
    assert mixed["distance"] == named["distance"]


def test_tables_without_names_are_numbered_as_by_the_library(capsys, points, tmp_path):
    a, b = (save(tmp_path / f"{name}.csv", points[i]) for i, name in enumerate("ab"))
    report = json.loads(run(capsys, "compare", a, b, "--json")[1])
    assert report["columns"] is None
    assert report["worst"]["columns"][0]["name"] == "column 1"


# -- bad input ------------------------------------------------------------------------------------


def refusal(capsys, *arguments):
    """What the command says when it refuses, checked to be one line on stderr and code 2."""
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("isodepth: error: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--depth", "tukey"], "halfspace"),
        (["--eps", "0"], "eps"),
        (["--eps", "1.5"], "eps"),
        (["--eps", "x"], "--eps"),
        (["--p", "0"], "p must"),
        (["--p", "nan"], "p must"),
        (["--directions", "0"], "n_directions"),
        (["--family", "grid"], "directions"),
        (["--levels", "0"], "levels"),
        (["--levels", "few"], "levels"),
        (["--refine", "-1"], "refine"),
        (["--seed", "-1"], "random_state"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_settings_are_refused(capsys, files, arguments, said):
    assert said in refusal(capsys, "compare", *files, *arguments)


def test_no_command_is_refused(capsys):
    refusal(capsys)
    refusal(capsys, "contrast")
    assert "B" in refusal(capsys, "compare", "a.csv")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("b.csv", "radius,texture,area\n1,2,x\n", "line 2, column 3 ('area'): 'x'"),
        ("b.csv", "radius,texture,area\n1,2,nan\n", "b.csv"),
        ("b.csv", "1,2\n3,4\n", "same number of columns"),
        ("b.csv", "", "empty"),
        ("b.npy", "not an array", "damaged"),
        ("b.xls", "1,2,3\n", ".csv, .tsv, .parquet"),
    ],
)
def test_bad_files_are_refused(capsys, files, tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    assert said in refusal(capsys, "compare", files[0], tmp_path / name)


def test_missing_file_is_refused(capsys, files, tmp_path):
    assert "no such file" in refusal(capsys, "compare", files[0], tmp_path / "absent.csv")


@pytest.mark.parametrize("shape", [(5,), (2, 2, 2), ()])
def test_arrays_that_are_no_tables_are_refused(capsys, files, tmp_path, shape):
    np.save(tmp_path / "b.npy", np.ones(shape))
    assert "b.npy" in refusal(capsys, "compare", files[0], tmp_path / "b.npy")


@pytest.mark.parametrize("picture", ["gaps.nonsense", "absent/gaps.png"])
def test_unwritable_plot_is_refused(capsys, files, tmp_path, picture):
    pytest.importorskip("matplotlib")
    assert "gaps" in refusal(capsys, "compare", *files, "--plot", tmp_path / picture)


def test_module_runs_as_a_program(files):
    done = subprocess.run(
        [sys.executable, "-m", "isodepth.cli", "compare", str(files[0]), "absent.csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "isodepth: error: cannot read absent.csv: there is no such file\n"


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        ("gaps.nonsense", ".png"),
        ("gaps", ".png"),
        ("absent/gaps.png", "there is no folder"),
        ("folder.png", "it is a folder"),
        ("", "folder"),
    ],
)
def test_an_unwritable_plot_is_refused_before_the_work(
    capsys, files, tmp_path, monkeypatch, picture, said
):
    pytest.importorskip("matplotlib")
    (tmp_path / "folder.png").mkdir()

    def never(*_):
        raise AssertionError("the tables were read")

    monkeypatch.setattr("isodepth.cli.reading.read_with_options", never)
    target = tmp_path / picture if picture else ""
    assert said in refusal(capsys, "compare", *files, "--plot", target)


# -- missing values -------------------------------------------------------------------------------

HOLES = "a,b\n1,2\n,3\n4,NA\n5,6\n7,9\n"


def test_rows_with_missing_values_are_left_out_where_asked(capsys, tmp_path):
    (tmp_path / "a.csv").write_text(HOLES)
    (tmp_path / "b.csv").write_text("a,b\n1,2\n3,4\n0,1\n")
    paths = (str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    given = ("compare", *paths, "--missing", "omit", "--depth", "irw")
    code, out, err = run(capsys, *given, "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert [sample["rows"] for sample in report["samples"]] == [3, 3]
    assert report["missing"]["rows"] == [5, 3]
    assert report["missing"]["left_out"] == [2, 0]
    shares = {
        column["column"]: (column["x"], column["y"]) for column in report["missing"]["columns"]
    }
    assert shares == {"a": (0.2, 0.0), "b": (0.2, 0.0)}
    left = [[1, 2], [5, 6], [7, 9]], [[1, 2], [3, 4], [0, 1]]
    assert report["distance"] == isodepth.distance(*left, depth="irw", random_state=0)
    _, out, _ = run(capsys, *given)
    assert "missing      left out 2 of 5 rows, missing values in a (1), b (1) of X" in out


def test_missing_values_are_refused_where_nothing_is_said(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\nnan,3\n")
    (tmp_path / "b.csv").write_text(HOLES)
    path = str(tmp_path / "a.csv")
    code, _, err = run(capsys, "compare", path, path)
    assert code == 2
    assert "row 1, column 'a'" in err
    assert "--missing omit" in err
    code, _, err = run(capsys, "compare", str(tmp_path / "b.csv"), path)
    assert code == 2
    assert "line 3, column 1 ('a'): the cell is empty" in err


def test_what_is_no_number_is_still_named(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n,2\nx,3\n")
    path = str(tmp_path / "a.csv")
    code, _, err = run(capsys, "compare", path, path, "--missing", "omit")
    assert code == 2
    assert "line 3, column 1 ('a'): 'x' is not a number" in err


def test_an_unknown_policy_is_refused(capsys, files):
    code, _, err = run(capsys, "compare", *files, "--missing", "drop")
    assert code == 2
    assert "--missing must be one of raise, omit" in err


def test_parquet_with_missing_values(capsys, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 5.0]})
    frame.to_parquet(tmp_path / "t.parquet")
    path = str(tmp_path / "t.parquet")
    code, out, _ = run(capsys, "compare", path, path, "--missing", "omit", "--json")
    assert code == 0
    assert json.loads(out)["missing"]["left_out"] == [1, 1]


def test_columns_in_other_units_are_noted(capsys, tmp_path):
    rng = np.random.default_rng(0)
    for letter in "ab":
        save(tmp_path / f"{letter}.csv", rng.standard_normal((30, 2)) * [1, 1000], ("x", "y"))
    code, out, err = run(
        capsys, "compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--json"
    )
    assert code == 0
    assert "scale='pooled'" in err
    assert len(json.loads(out)["warnings"]) == 1
