"""Reports of results as self-contained HTML pages."""

from isodepth.show.report import html_report

__all__ = ["html_report"]


def __dir__() -> list[str]:
    return __all__
