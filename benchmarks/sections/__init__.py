"""One module a section of the report: `measure(quick)` and `markdown(result)`."""
