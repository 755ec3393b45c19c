"""Command line of isodepth, based on Click."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments after the name of the program; `sys.argv` by default.

    Returns
    -------
    code : int
        0 for success; 1 if `monitor check` finds an alarm or a batch beyond all blocks, or if
        `monitor check` or `test` exceeds a given threshold; 2 for an error, with one line on
        stderr; 130 after Ctrl-C.
    """
    try:
        # The import takes time. It is inside the `try` block, so that Ctrl-C ends it.
        from isodepth.cli.program import cli

        cli.main(None if arguments is None else list(arguments), prog_name="isodepth")
    except KeyboardInterrupt:
        return 130
    except SystemExit as stop:
        return int(stop.code or 0)
