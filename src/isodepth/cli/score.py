"""The command `score`: scores of generated texts, one per line of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import isodepth.cli.options as cli
from isodepth.base.paths import is_absent, system_reason
from isodepth.cli.commands import Answer, Command
from isodepth.errors import InvalidInputError, MissingFileError, UnreadableFileError


@click.command(cls=Command)
@click.option("-c", "--candidates", required=True, metavar="FILE", help="Texts to score.")
@click.option(
    "-r", "--references", required=True, multiple=True, metavar="FILE", help="References."
)
@cli.add_options("options", cli.SCORE)
def score(candidates: str, references: Sequence[str], options: dict[str, Any]) -> Answer:
    """Score texts against references with DepthScore.

    The files contain one text per line. A lower score is better. Several files of references
    give several references per candidate.

    \b
    Examples:
      isodepth score -c candidates.txt -r references.txt
      isodepth score -c candidates.txt -r references.txt -r more.txt --multi-ref min --json
    """
    texts = _lines_of(candidates)
    wanted = _references(references, candidates, len(texts))
    from isodepth.text.score import DepthScore

    scores = DepthScore(**options).score(texts, wanted)
    lines = [*(f"{each:.6f}" for each in scores), f"mean {scores.mean():.6f}"]
    return Answer([*lines, f"signature {scores.signature}"], scores.to_dict())


def _lines_of(path: str) -> list[str]:
    """Return the lines of a text file in UTF-8, without line breaks."""
    try:
        text = Path(path).read_text(encoding="utf-8").removeprefix("\ufeff")
    except (OSError, ValueError) as error:
        # ValueError is raised if the text is not UTF-8, or if the path contains a null byte.
        kind = MissingFileError if is_absent(error) else UnreadableFileError
        reason = "it is not UTF-8" if isinstance(error, UnicodeError) else system_reason(error)
        raise kind(f"cannot read {path!a} as text in UTF-8: {reason}") from None
    if not text:
        raise InvalidInputError(f"{path} is empty; it must contain one text per line")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _references(paths: Sequence[str], candidates: str, count: int) -> list[list[str]]:
    """Return the references of each candidate.

    Line i of each reference file belongs to line i of the file of candidates. `count` is the number
    of candidates.
    """
    columns = []
    for path in paths:
        columns.append(_lines_of(path))
        if len(columns[-1]) != count:
            raise InvalidInputError(
                f"{candidates} and {path} must have the same number of lines, got {count} and "
                f"{len(columns[-1])}"
            )
    # An empty line in the second or a later file is not a reference: the candidate of this line has
    # fewer references.
    return [[first, *filter(None, rest)] for first, *rest in zip(*columns, strict=True)]
