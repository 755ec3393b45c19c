"""Reports: one self-contained HTML file about a result, for somebody who was not there."""

from isodepth.report.writing import html_report, write_report

__all__ = ["html_report", "write_report"]
