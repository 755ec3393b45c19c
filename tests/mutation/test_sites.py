"""What is mutated and what is left alone; and that a mutant lives in memory alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from mutation.sites import Mutant, inside, left_out, sample

ROOT = Path(__file__).resolve().parents[2]

TEXT = """\
__all__ = ["a" * 1]
@njit(cache=True)
def compiled(n): return n + 2
@jit.intrinsic
def typed(context, n=3): return n
def kept(n: Literal[4], m=5) -> Literal[6]:
    x: Annotated[int, 7] = 8
    if n > 9:
        raise ValueError(f"{n + 10}")
    warnings.warn("no", stacklevel=11)
    return x + 12
if TYPE_CHECKING:
    y = 13
@dataclass(eq=14)
class Box:
    size: int = 15
    pairs = zip([16], [], strict=17)
    limits = (3e6, 18.0, 2000)
    small = size < 19 * np.finfo(float).eps
"""


def test_noise_is_left_out() -> None:
    tree = ast.parse(TEXT)
    ignored = list(left_out(tree))
    numbers = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
        if not any(inside((node.lineno, node.col_offset), place) for place in ignored)
        # Before Python 3.12 a constant in an f-string does not know its place.
        if node.value != 10
    }
    assert numbers == {5, 8, 9, 12, 15, 16, 18.0, 2000}


def test_constants_beside_compiled_code_are_left_out() -> None:
    texts = {
        "ROUND = 2\ndef f(): return 3\n@njit(cache=True)\ndef g(): return ROUND\n": {3},
        "ROUND = 2\ndef f(): return 3\n": {2, 3},
    }
    for text, expected in texts.items():
        tree = ast.parse(text)
        ignored = list(left_out(tree))
        found = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, int)
            and not isinstance(node.value, bool)
            and not any(inside((node.lineno, node.col_offset), place) for place in ignored)
        }
        assert found == expected


def test_a_sample_has_one_change_a_place_and_depends_on_the_seed_alone() -> None:
    mutants = [
        Mutant("src/isodepth/a.py", line, 0, f"core/{name}", line)
        for line in range(40)
        for name in ("One", "Two", "Three")
    ]
    drawn = sample(mutants, 10, seed=3)
    assert len({mutant.line for mutant in drawn}) == len(drawn) == 10
    assert drawn == sample(reversed(mutants), 10, seed=3)
    assert drawn == sample(mutants, 20, seed=3)[:10]
    assert set(drawn) != set(sample(mutants, 10, seed=4))
    assert len({mutant.operator for mutant in sample(mutants, 40, seed=0)}) == 3
    assert len(sample(mutants, 100, seed=0)) == 40


def test_names_of_modules() -> None:
    assert Mutant("src/isodepth/core/levels.py", 1, 0, "", 0).module == "isodepth.core.levels"
    assert Mutant("src/isodepth/core/__init__.py", 1, 0, "", 0).module == "isodepth.core"


def test_a_mutant_is_imported_without_being_written_to_the_tree(tmp_path: Path) -> None:
    file = ROOT / "src" / "isodepth" / "theory" / "levels.py"
    before = file.read_bytes()
    mutant = tmp_path / "mutant.py"
    mutant.write_text(file.read_text(encoding="utf-8") + "\nCHANGED = True\n", encoding="utf-8")
    variables = {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "mutation" / "site"), str(ROOT / "src")]),
        "MUTATION_MODULE": "isodepth.theory.levels",
        "MUTATION_FILE": str(file),
        "MUTATION_SOURCE": str(mutant),
    }
    shown = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import isodepth.theory.levels as m, isodepth.theory.radii as other\n"
            "print(m.CHANGED, m.__file__, hasattr(other, 'CHANGED'))",
        ],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["True", str(file), "False"]
    assert file.read_bytes() == before
