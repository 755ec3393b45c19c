"""The command `isodepth score`: texts in files, one a line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from isodepth.cli.outputs import as_json
from isodepth.cli.parsers import add_command, add_json
from isodepth.errors import InvalidInputError, UnreadableFileError

#: Options of the command that are settings of DepthScore under the same name.
_SETTINGS = (
    "model", "layer", "depth", "covariance", "p", "q", "eps", "n_directions", "gap", "multi_ref",
    "special_tokens", "max_length", "batch_size", "device", "precision", "random_state",
)  # fmt: skip


def add_score_parser(commands: Any) -> None:
    """Add `score` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "score",
        "score texts against references",
        "Score texts against references with DepthScore, one text a line. Lower is closer. "
        "Several files of references give several references for each candidate.",
        [
            "isodepth score -c candidates.txt -r references.txt",
            "isodepth score -c candidates.txt -r references.txt -r more.txt --multi-ref min --json",
        ],
    )
    parser.add_argument(
        "-c", "--candidates", required=True, metavar="FILE", help="texts to score, one a line"
    )
    parser.add_argument(
        "-r", "--references", required=True, action="append", metavar="FILE",
        help="references, line by line; may be repeated (an empty line is no further reference)",
    )  # fmt: skip
    setting = parser.add_argument_group("settings").add_argument
    setting("--model", metavar="DIR", help="folder or name of a model (default all-MiniLM-L6-v2)")
    setting("--layer", type=int, help="hidden state to take (default the last)")
    setting("--depth", help="irw (default), dual, ai_irw, ...")
    setting("--covariance", help="for ai_irw, such as ledoit-wolf")
    setting("--p", type=float, help="exponent of the mean over levels (default 2)")
    setting("--q", type=float, help="exponent of the mean over directions (default inf)")
    setting("--eps", type=float, help="share of the outermost tokens ignored (default 0.01)")
    setting(
        "--directions", dest="n_directions", type=int, metavar="N", help="how many (default 4000)"
    )
    setting("--gap", help="exact (default) or search")
    setting("--multi-ref", help="mean (default), min or first")
    setting("--special-tokens", help="drop (default) or keep")
    setting("--max-length", type=int, metavar="TOKENS", help="cut longer texts there")
    setting("--batch-size", type=int, metavar="N", help="texts embedded together (default 32)")
    setting("--device", help="such as cpu or cuda")
    setting("--precision", help="of the encoder, double (default) or single")
    setting("--seed", dest="random_state", type=int, help="default 0")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--similarity", action="store_true", help="print 1 / (1 + distance) instead"
    )
    add_json(output)
    parser.set_defaults(work=score_files, report=score_report)


def score_files(options: argparse.Namespace) -> dict[str, Any]:
    """What `isodepth score` reports: a score for each line, their mean, and the signature."""
    candidates = read_lines(options.candidates)
    references = read_references(options.references, options.candidates, len(candidates))
    from isodepth.text.score import DepthScore

    given = {name: getattr(options, name) for name in _SETTINGS}
    metric = DepthScore(**{name: value for name, value in given.items() if value is not None})
    scorer = metric.similarity if options.similarity else metric.score
    scores = scorer(candidates, references)
    return {
        "scores": scores,
        "mean": sum(scores) / len(scores),
        "higher_is_better": options.similarity,
        "signature": metric.signature,
    }


def score_report(scored: dict[str, Any], notes: list[str], options: argparse.Namespace) -> str:
    """The report as JSON, or for people: a score a line, then the mean and the signature."""
    if options.json:
        return as_json(scored, notes)
    lines = [f"{score:.6f}" for score in scored["scores"]]
    return "\n".join([*lines, f"mean {scored['mean']:.6f}", f"signature {scored['signature']}"])


def read_lines(path: str) -> list[str]:
    """The lines of a text file in UTF-8, without their ends."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnreadableFileError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise UnreadableFileError(f"{path} is a folder, not a file of texts") from None
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"{path} is not a text file in UTF-8: {error}") from None
    except ValueError as error:  # a path with a null byte
        raise UnreadableFileError(f"cannot read {path!a}: {error}") from None
    except OSError as error:
        raise UnreadableFileError(f"cannot read {path}: {error.strerror or error}") from None
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise InvalidInputError(f"{path} is empty; it must hold one text a line")
    return [line.removesuffix("\r") for line in lines]


def read_references(paths: list[str], candidates: str, count: int) -> list[list[str]]:
    """The references of each candidate, from one file or several."""
    columns = []
    for path in paths:
        lines = read_lines(path)
        if len(lines) != count:
            raise InvalidInputError(
                f"{candidates} has {count} line(s) and {path} has {len(lines)}; every candidate "
                "needs its line in every file of references"
            )
        columns.append(lines)
    # Candidates with fewer references than others leave empty lines in the later files.
    return [
        [first, *(text for text in rest if text)] for first, *rest in zip(*columns, strict=True)
    ]
