"""Put the figures of a run into the documents that quote them.

A document marks the place with `<!-- BENCH table -->` and `<!-- /BENCH -->` around it, `table`
being the name of a section (or `machine`, `checks`, or `short`, the few rows of README); what
stands between is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_PLACE = re.compile(r"<!-- BENCH (\w+) -->\n.*?<!-- /BENCH -->", re.DOTALL)


def fill(text: str, sections: Mapping[str, str]) -> str:
    """`text` with every marked place replaced by the section it names; unknown ones are kept."""

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name not in sections:
            return match[0]
        return f"<!-- BENCH {name} -->\n\n{sections[name]}\n\n<!-- /BENCH -->"

    return _PLACE.sub(replace, text)


def publish(sections: Mapping[str, str], documents: list[Path]) -> list[Path]:
    """Fill the documents in place; the ones that changed."""
    changed = []
    for document in documents:
        before = document.read_text(encoding="utf-8")
        after = fill(before, sections)
        if after != before:
            document.write_text(after, encoding="utf-8")
            changed.append(document)
    return changed
