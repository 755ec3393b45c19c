"""Check the links of the built documentation that lead to itself: every file, every anchor.

`python .ci/internal_links.py docs/_build/html` names what leads nowhere and ends with 1. Links to
other sites are the business of `make links`.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, shows, and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.silent: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        for name in ("id", "name"):
            self.anchors.add(values.get(name) or "")
        address = values.get("href") or values.get("src")
        if address and tag in ("a", "img", "link", "script"):
            self.targets.append(address)
        # A thumbnail stands above its title: decoration, which is to be silent.
        silent = tag == "img" and not (values.get("alt") or "").strip()
        if silent and not (values.get("src") or "").endswith("_thumb.png"):
            self.silent.append(values.get("src") or "?")


def broken_links(root: Path) -> list[str]:
    """What leads nowhere, and pictures without a text, one line each."""
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        here = path.relative_to(root)
        found += [f"{here}: {picture} has no alternative text" for picture in page.silent]
        for address in page.targets:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{here}: {address} does not exist")
            elif parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{here}: {address} has no such place")
    return found


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]).resolve()
    found = broken_links(root)
    print("\n".join(found) or f"links inside {arguments[0]}: all lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
