"""Sections of the report, one module each, with `measure(quick)` and `markdown(result)`."""
