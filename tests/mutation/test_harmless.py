"""The list of survivors that cannot matter."""

from __future__ import annotations

from pathlib import Path

from mutation.harmless import LIST, outdated, read_list, why_harmless


def test_a_survivor_is_known_by_its_file_and_its_change(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text(
        '[[survivor]]\nfile = "a.py"\nbefore = "x = f(1)"\nafter = "x = f( 2)"\nwhy = "one"\n'
        '[[survivor]]\nfile = "b.py"\nbefore = "x = f(1)"\nwhy = "any"\n'
    )
    diff = "-    x = f(1)\n+    x = f(2)"
    assert why_harmless("a.py", diff, path) == "one"
    assert why_harmless("a.py", diff.replace("2", "0"), path) == ""
    assert why_harmless("a.py", diff.replace("(1)", "(3)"), path) == ""
    assert why_harmless("b.py", diff.replace("2", "0"), path) == "any"
    assert why_harmless("c.py", diff, path) == ""


def test_entries_whose_line_is_gone_are_named(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text(
        '[[survivor]]\nfile = "a.py"\nbefore = "x = f( 1)"\nwhy = "one"\n'
        '[[survivor]]\nfile = "a.py"\nbefore = "y = 2"\nwhy = "two"\n'
        '[[survivor]]\nfile = "gone.py"\nbefore = "z = 3"\nwhy = "three"\n'
    )
    (tmp_path / "a.py").write_text("def g():\n    x = f(1)\n")
    assert outdated(tmp_path, path) == ["a.py: y = 2", "gone.py: z = 3"]


def test_every_entry_has_a_reason() -> None:
    for entry in read_list(LIST):
        assert entry["file"].startswith("src/isodepth/")
        assert entry["before"]
        assert entry["why"]
