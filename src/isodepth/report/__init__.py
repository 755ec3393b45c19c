"""Reports: a result as one self-contained HTML file."""

from isodepth.report.writing import html_report, write_report

__all__ = ["html_report", "write_report"]
