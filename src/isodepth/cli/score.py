"""The command `score`: texts in files, one on each line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from isodepth.cli.commands import Answer, Command
from isodepth.errors import InvalidInputError, UnreadableFileError


@click.command(cls=Command)
@click.option("-c", "--candidates", required=True, metavar="FILE", help="Texts to score.")
@click.option(
    "-r", "--references", required=True, multiple=True, metavar="FILE", help="References."
)
@click.option("--model", metavar="DIR", help="Folder or name (default all-MiniLM-L6-v2).")
@click.option("--layer", type=int, help="Hidden state of the model (default the last).")
@click.option("--depth", help="irw (default), dual, ai_irw, ...")
@click.option("--covariance", help="For ai_irw, such as ledoit-wolf.")
@click.option("--p", type=float, help="Exponent of the mean over levels (default 2).")
@click.option("--q", type=float, help="Exponent of the mean over directions (default inf).")
@click.option("--eps", type=float, help="Outermost share of tokens to ignore (default 0.01).")
@click.option("--directions", "n_directions", type=int, help="Number of directions (default 4000).")
@click.option("--gap", help="exact (default) or search.")
@click.option("--multi-ref", help="mean (default), min or first.")
@click.option("--special-tokens", help="drop (default) or keep.")
@click.option("--max-length", type=int, help="Truncate texts to this many tokens.")
@click.option("--batch-size", type=int, help="Texts embedded together (default 32).")
@click.option("--device", help="Device of the encoder, such as cpu or cuda.")
@click.option("--precision", help="Of the encoder, double (default) or single.")
@click.option("--random-state", type=int, help="Seed of the directions (default 0).")
@click.option("--similarity", is_flag=True, help="Print 1 / (1 + distance) instead.")
def score(candidates: str, references: Sequence[str], similarity: bool, **settings: Any) -> Answer:
    """Score texts against references with DepthScore.

    One text on each line; lower is closer. Several files of references give several references
    for each candidate.

    \b
    Examples:
      isodepth score -c candidates.txt -r references.txt
      isodepth score -c candidates.txt -r references.txt -r more.txt --multi-ref min --json
    """
    texts = _lines_of(candidates)
    wanted = _references(references, candidates, len(texts))
    from isodepth.text.score import DepthScore

    metric = DepthScore(**{name: value for name, value in settings.items() if value is not None})
    scores = (metric.similarity if similarity else metric.score)(texts, wanted)
    mean = sum(scores) / len(scores)
    content = {
        "scores": scores, "mean": mean, "higher_is_better": similarity,
        "signature": metric.signature,
    }  # fmt: skip
    lines = [f"{each:.6f}" for each in scores]
    return Answer([*lines, f"mean {mean:.6f}", f"signature {metric.signature}"], content)


def _lines_of(path: str) -> list[str]:
    """The lines of a text file in UTF-8, without their ends."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a null byte
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFileError(f"cannot read {path!a} as text in UTF-8: {reason}") from None
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise InvalidInputError(f"{path} is empty; it must hold one text on each line")
    return [line.removesuffix("\r") for line in lines]


def _references(paths: Sequence[str], candidates: str, count: int) -> list[list[str]]:
    """The references of each candidate, from one file or several."""
    columns = []
    for path in paths:
        columns.append(_lines_of(path))
        if len(columns[-1]) != count:
            raise InvalidInputError(
                f"{candidates} has {count} line(s) and {path} has {len(columns[-1])}; every "
                "candidate needs its line in every file of references"
            )
    # Candidates with fewer references than others leave empty lines in the later files.
    return [[first, *filter(None, rest)] for first, *rest in zip(*columns, strict=True)]
