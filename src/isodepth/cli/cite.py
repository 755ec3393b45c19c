"""The command `isodepth cite`: how to cite the distance and the software."""

from __future__ import annotations

import argparse
from typing import Any

from isodepth._version import __version__
from isodepth.cli.outputs import as_json
from isodepth.cli.parsers import add_command, add_json

#: What CITATION.cff says as well, which a test checks.
PAPER: dict[str, Any] = {
    "authors": [
        ("Guillaume", "Staerman"),
        ("Pavlo", "Mozharovskyi"),
        ("Pierre", "Colombo"),
        ("Stéphan", "Clémençon"),
        ("Florence", "d'Alché-Buc"),
    ],
    "title": "A Pseudo-Metric between Probability Distributions based on Depth-Trimmed Regions",
    "journal": "Transactions on Machine Learning Research",
    "year": 2024,
    "url": "https://openreview.net/forum?id=QySD5r7PeE",
    "note": "arXiv:2103.12711",
}
SOFTWARE: dict[str, Any] = {"author": "The isodepth authors", "title": "isodepth"}


def add_cite_parser(commands: Any) -> None:
    """Add `cite` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "cite",
        "how to cite the distance and the software",
        "Print what to cite: the paper that introduces the distance, and the software.",
        ["isodepth cite", "isodepth cite --bibtex", "isodepth cite --json"],
    )
    parser.add_argument("--bibtex", action="store_true", help="print entries for BibTeX")
    add_json(parser)
    parser.set_defaults(work=lambda options: None, report=cite_report)


def cite_report(_: None, notes: list[str], options: argparse.Namespace) -> str:
    """The citations, as text, for BibTeX or for machines."""
    names = [f"{given} {family}" for given, family in PAPER["authors"]]
    if options.json:
        paper = {**PAPER, "authors": names}
        software = {**SOFTWARE, "version": __version__}
        return as_json({"paper": paper, "software": software, "bibtex": bibtex()}, notes)
    if options.bibtex:
        return bibtex()
    return "\n".join(
        [
            f"{', '.join(names[:-1])} and {names[-1]} ({PAPER['year']}). {PAPER['title']}.",
            f"{PAPER['journal']}. {PAPER['url']} ({PAPER['note']})",
            "",
            f"{SOFTWARE['author']}. {SOFTWARE['title']}, version {__version__}.",
        ]
    )


def bibtex() -> str:
    """Both citations as entries for BibTeX."""
    authors = " and ".join(f"{{{family}}}, {given}" for given, family in PAPER["authors"])
    return (
        "@article{staerman2024depth,\n"
        f"  author  = {{{authors}}},\n"
        f"  title   = {{{{{PAPER['title']}}}}},\n"
        f"  journal = {{{PAPER['journal']}}},\n"
        f"  year    = {{{PAPER['year']}}},\n"
        f"  url     = {{{PAPER['url']}}},\n"
        f"  note    = {{{PAPER['note']}}}\n"
        "}\n\n"
        "@software{isodepth,\n"
        f"  author  = {{{{{SOFTWARE['author']}}}}},\n"
        f"  title   = {{{SOFTWARE['title']}}},\n"
        f"  version = {{{__version__}}}\n"
        "}"
    )
