"""Pages of the documentation in a browser; skipped unless they have been built (`make docs`)."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

BUILT = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
#: Folders whose pages are tutorials.
TUTORIALS = ("tutorials", "concept_figures")


def pages() -> list[Path]:
    """Return the paths of the first page, the pages of the top folder, and all tutorials."""
    if not BUILT.is_dir():
        return []
    found = [BUILT / "index.html"]
    found += sorted(BUILT.glob("*.html"))
    for folder in TUTORIALS:
        found += sorted((BUILT / folder).rglob("*.html"))
    skipped = ("genindex.html", "search.html", "py-modindex.html")
    return [page for page in dict.fromkeys(found) if page.name not in skipped]


PAGES = [page.relative_to(BUILT).as_posix() for page in pages()]


# If the pages were not built, one skipped case with the reason.
NAMES = PAGES or [pytest.param("", marks=pytest.mark.skip(reason="run make docs first"))]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_without_complaint(browser, name) -> None:
    browser.open(BUILT / name)
    assert browser.complaints() == []
    assert browser.find("h1")
    assert browser.without_words() == []
    broken = browser.run(
        "return Array.from(document.images).filter(image => image.loading !== 'lazy')"
        ".filter(image => !image.naturalWidth).map(image => image.src)"
    )
    assert broken == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_a_phone(browser, name) -> None:
    browser.open(BUILT / name, width=360)
    assert browser.too_wide() <= 0
