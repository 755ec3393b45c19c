"""Where the code can be changed, and how: Cosmic Ray's operators, less what would only be noise."""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

#: The operators of Cosmic Ray that make faults a person could make. Most of its others end in a
#: TypeError at once (`a << b` of floats), which any test sees: they would flatter the tests.
OPERATORS = tuple(
    f"core/{name}"
    for name in (
        "NumberReplacer",
        "AddNot",
        "ReplaceTrueWithFalse",
        "ReplaceFalseWithTrue",
        "ReplaceAndWithOr",
        "ReplaceOrWithAnd",
        "ReplaceBreakWithContinue",
        "ReplaceContinueWithBreak",
        "ReplaceUnaryOperator_Delete_USub",
        "ReplaceUnaryOperator_Delete_Not",
        "ReplaceUnaryOperator_Delete_Invert",
        *(
            f"ReplaceComparisonOperator_{change}"
            for change in (
                *("Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt"),
                *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is"),
            )
        ),
        *(
            f"ReplaceBinaryOperator_{change}"
            for change in (
                *("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul"),
                *("Pow_Mul", "BitAnd_BitOr", "BitOr_BitAnd", "RShift_LShift", "LShift_RShift"),
            )
        ),
    )
)

#: Decorators of functions that are compiled: a mutant of these is not Python code that runs.
COMPILERS = ("jit", "njit", "loop", "intrinsic", "overload", "vectorize", "guvectorize")

#: A float that large is a limit of work or of size, and changed by one, which is next to nothing.
LARGE = 1000.0

Position = tuple[int, int]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Mutant:
    """One change at one place: a file relative to the root, a line from 1, a column from 0."""

    file: str
    line: int
    column: int
    operator: str
    occurrence: int

    @property
    def module(self) -> str:
        """`isodepth.core.levels`."""
        parts = Path(self.file).with_suffix("").parts[1:]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def source(self, root: Path) -> tuple[str, str]:
        """The text of the file, and the text with the change."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        text = (root / self.file).read_text(encoding="utf-8")
        mutated = mutate_code(text, get_operator(self.operator)(), self.occurrence)
        assert mutated not in (None, text), self
        return text, mutated

    def diff(self, root: Path) -> str:
        """The line before and after."""
        before, after = (text.splitlines() for text in self.source(root))
        changes = difflib.unified_diff(before, after, lineterm="", n=0)
        return "\n".join(line for line in changes if not line.startswith(("---", "+++", "@@")))


def name_of(node: ast.expr) -> str:
    """The last name of a decorator or callee: `njit` for `jit.njit(cache=True)`."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_compiled(node: Function) -> bool:
    """Whether a function has a decorator that compiles it, or one named after numba's."""
    names = [name_of(decorator).strip("_") for decorator in node.decorator_list]
    return any(name in COMPILERS or name.endswith("jit") for name in names)


def is_rounding(node: ast.AST) -> bool:
    """Whether this is `np.finfo(...).eps`."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "eps"
        and isinstance(node.value, ast.Call)
        and name_of(node.value) == "finfo"
    )


def left_out(tree: ast.Module) -> Iterator[ast.AST]:
    """The parts of a module where a change says nothing about its tests."""
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    if any(map(is_compiled, functions)):
        # Compiled code holds the constants beside it, and comes from the cache as it was.
        yield from (node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
    for node in ast.walk(tree):
        match node:
            case ast.Raise():
                yield node
            case ast.Call() if name_of(node) == "warn":
                yield node
            case ast.Call() if name_of(node) == "zip":
                # `strict` is an assertion, which never fails.
                yield from (word.value for word in node.keywords)
            case ast.ClassDef():
                # `eq=False` of a dataclass says that nobody compares.
                yield from node.decorator_list
            case ast.BinOp() if any(map(is_rounding, ast.walk(node))):
                # How many units of rounding are allowed is known to a small factor only.
                yield from (part for part in ast.walk(node) if isinstance(part, ast.Constant))
            case ast.Constant(value=float(size)) if abs(size) >= LARGE:
                yield node
            case ast.If() if name_of(node.test) == "TYPE_CHECKING":
                yield node
            case ast.Assign() if name_of(node.targets[0]) == "__all__":
                yield node
            case ast.FunctionDef() | ast.AsyncFunctionDef() if is_compiled(node):
                yield node
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.returns is not None:
                yield node.returns
            case ast.AnnAssign() | ast.arg() if node.annotation is not None:
                yield node.annotation


def inside(position: Position, node: ast.AST) -> bool:
    """Whether a position (line from 1, column from 0) lies in a node, decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    start = (first, node.col_offset)
    return start <= position < (node.end_lineno, node.end_col_offset)


def mutants_in(root: Path, file: str) -> Iterator[Mutant]:
    """Every mutant of a file, those that would be noise left out."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    text = (root / file).read_text(encoding="utf-8")
    tree = ast.parse(text)
    ignored = list(left_out(tree))
    sums = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.AugAssign)]
    nodes = list(ast_nodes(get_ast(text)))
    for name in OPERATORS:
        operator = get_operator(name)()
        places = (place for node in nodes for place, _ in operator.mutation_positions(node))
        for occurrence, place in enumerate(places):
            # The stars of `f(*rows)` and of `def f(*, p)` are no products.
            if "BinaryOperator" in name and not any(inside(place, node) for node in sums):
                continue
            if not any(inside(place, node) for node in ignored):
                yield Mutant(file, *place, name, occurrence)


def files_of(root: Path, rooms: Iterable[str]) -> list[str]:
    """Python files of the rooms, relative to the root, without those that hold compiled loops."""
    found = [path for room in rooms for path in (root / "src/isodepth" / room).rglob("*.py")]
    return sorted(
        path.relative_to(root).as_posix() for path in found if not path.stem.endswith("_loops")
    )


def sample(mutants: Iterable[Mutant], number: int, seed: int) -> list[Mutant]:
    """At most `number` mutants: places drawn at random, and one change at each.

    Drawing changes instead would favour places that can be changed in many ways.
    """
    places: dict[tuple[str, int, int], list[Mutant]] = {}
    for mutant in sorted(mutants):
        places.setdefault((mutant.file, mutant.line, mutant.column), []).append(mutant)
    rng = random.Random(seed)
    order = list(places.values())
    rng.shuffle(order)
    return [rng.choice(changes) for changes in order[:number]]
