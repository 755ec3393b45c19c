"""The sample of `make mutants` excludes mutants that no test can detect."""

from __future__ import annotations

import importlib.util
import sqlite3
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "sample_mutants.py"


@pytest.fixture
def sampling():
    spec = importlib.util.spec_from_file_location("sample_mutants", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_listed_mutants_are_left_out(sampling, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Path("src/isodepth/geometry/pairs.py")
    source.parent.mkdir(parents=True)
    source.write_text("both = zip(x, y, strict=True)\nfound = True\n")
    rows = [
        ("listed", str(source), 1, 0, "core/ReplaceTrueWithFalse", 0),
        ("other operator", str(source), 1, 0, "core/NumberReplacer", 0),
        ("other line", str(source), 2, 0, "core/ReplaceTrueWithFalse", 1),
        ("other package", "src/isodepth/many/pairs.py", 2, 0, "core/NumberReplacer", 0),
    ]
    (tmp_path / "src/isodepth/many").mkdir()
    (tmp_path / rows[-1][1]).write_text(source.read_text())
    with sqlite3.connect("session") as database:
        database.execute("CREATE TABLE work_items (job_id)")
        database.execute("CREATE TABLE work_results (job_id)")
        database.execute(
            "CREATE TABLE mutation_specs (job_id, module_path, start_pos_row, start_pos_col, "
            "operator_name, occurrence)"
        )
        database.executemany("INSERT INTO work_items VALUES (?)", [row[:1] for row in rows])
        database.executemany("INSERT INTO mutation_specs VALUES (?, ?, ?, ?, ?, ?)", rows)
    sampling.main("session", "10", "0", "geometry")
    with sqlite3.connect("session") as database:
        left = {job for (job,) in database.execute("SELECT job_id FROM work_items")}
    assert left == {"other operator", "other line"}


def test_every_listed_mutant_has_a_reason(sampling):
    for each in sampling.LISTED:
        assert set(each) == {"file", "line", "operator", "reason"}
        assert each["line"]
        assert each["reason"]
