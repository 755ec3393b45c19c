"""The files of a release agree: the version, the versions of Python, and the extras."""

from __future__ import annotations

import importlib.metadata
import os
import re
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

import isodepth

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_version_stands_in_one_place() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    version = PROJECT["tool"]["scikit-build"]["metadata"]["version"]
    assert version["input"] == "src/isodepth/_version.py"
    cited = re.search(r"^version: (.+)$", text_of("CITATION.cff"), re.MULTILINE)
    assert cited is not None
    assert cited[1].strip("\"'") == isodepth.__version__
    assert f'__version__ = "{isodepth.__version__}"' in text_of("src/isodepth/_version.py")


def test_the_conda_recipe_has_the_version_and_the_dependencies_of_the_package() -> None:
    recipe = text_of("recipe/recipe.yaml")
    run = re.search(r"^  run:\n((?:    - .+\n)+)", recipe, re.MULTILINE)
    assert run is not None
    named = {line.strip("- ").replace(" ", "") for line in run[1].splitlines()} - {"python"}
    wanted = {
        each.replace("lazy_loader", "lazy-loader") for each in PROJECT["project"]["dependencies"]
    }

    assert f'version: "{isodepth.__version__}"' in recipe
    assert named == wanted
    for each in PROJECT["build-system"]["requires"]:
        assert each.replace(">=", " >=") in recipe


def test_the_changelog_begins_with_what_is_new() -> None:
    headings = re.findall(r"^## \[(.+?)\]", text_of("CHANGELOG.md"), re.MULTILINE)

    assert headings[0] == "Unreleased"
    assert Version(headings[1]) >= Version(isodepth.__version__)


def test_every_python_that_is_promised_is_tested() -> None:
    classifiers = PROJECT["project"]["classifiers"]
    promised = [c.rpartition(" ")[2] for c in classifiers if re.search(r"Python :: 3\.\d", c)]
    matrix = re.search(r"python: \[(.+)\]", text_of(".github/workflows/tests.yml"))

    assert matrix
    assert re.findall(r"3\.\d+", matrix[1]) == promised
    assert PROJECT["project"]["requires-python"] == f">={promised[0]}"


def test_workflows_install_extras_that_exist() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"])
    named = set()
    for path in WORKFLOWS:
        for group in re.findall(r'--editable "\.\[([\w,-]+)\]"', path.read_text("utf-8")):
            named |= set(group.split(","))

    assert len(WORKFLOWS) == 4
    assert {"test-all", "docs", "plot"} <= named <= extras


def test_workflows_and_makefile_take_the_same_encoder() -> None:
    model = re.search(r"^TEXT_MODEL := (\S+)$", text_of("Makefile"), re.MULTILINE)

    assert model
    for name in ("tests.yml", "docs.yml"):
        assert model[1] in text_of(f".github/workflows/{name}")


def test_the_build_tools_of_the_makefile_are_those_of_the_build() -> None:
    """The Makefile and pyproject.toml name the same build tools.

    The Makefile installs them itself, so that it can compile only changed files.
    """
    makefile = text_of("Makefile")

    for requirement in PROJECT["build-system"]["requires"]:
        assert f'"{requirement}"' in makefile


def packages(extra: str) -> set[str]:
    """Return the names of all packages that an extra requires."""
    extras = PROJECT["project"]["optional-dependencies"]
    found, queue = set(), [extra]
    while queue:
        for requirement in extras[queue.pop()]:
            inner = re.fullmatch(r"isodepth\[([\w,-]+)\]", requirement)
            if inner:
                queue += inner[1].split(",")
            else:
                found.add(re.match(r"[\w.-]+", requirement)[0])
    return found


def test_nothing_that_make_test_installs_is_large() -> None:
    assert {"pytest", "matplotlib", "pandas"} <= packages("test")
    assert not packages("test") & {"torch", "transformers", "dask", "torchmetrics"}


@pytest.mark.skipif(
    not os.environ.get("ISODEPTH_REQUIRE_EXTRAS"), reason="make test-all asks for it"
)
@pytest.mark.parametrize("name", sorted(packages("test-all")))
def test_no_test_is_skipped_for_want_of_a_package(name: str) -> None:
    assert importlib.metadata.version(name)
