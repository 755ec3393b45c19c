"""Write the tables of a run into the documents that quote them.

A document marks the position of a table with `<!-- BENCH table -->` and `<!-- /BENCH -->`, where
`table` is the name of a section, `machine`, `checks`, or `short` (the rows of README). The text
between the marks is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_PLACE = re.compile(r"<!-- BENCH (\w+) -->\n.*?<!-- /BENCH -->", re.DOTALL)


def fill(text: str, sections: Mapping[str, str]) -> str:
    """Return `text` with every marked position replaced by its section.

    The text between marks with unknown names is kept.
    """

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name not in sections:
            return match[0]
        return f"<!-- BENCH {name} -->\n\n{sections[name]}\n\n<!-- /BENCH -->"

    return _PLACE.sub(replace, text)


def publish(sections: Mapping[str, str], documents: list[Path]) -> list[Path]:
    """Replace the marked tables in the documents by `sections`; return the changed documents."""
    changed = []
    for document in documents:
        before = document.read_text(encoding="utf-8")
        after = fill(before, sections)
        if after != before:
            document.write_text(after, encoding="utf-8")
            changed.append(document)
    return changed
