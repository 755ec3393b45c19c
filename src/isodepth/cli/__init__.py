"""The command line, on Click."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the program; `sys.argv` by default.

    Returns
    -------
    code : int
        0; 1 where `monitor check` raises an alarm; 2 after one line on stderr that says what is
        wrong with the input or the output; 130 after Ctrl-C.
    """
    try:
        # Imported here: Ctrl-C ends quietly while modules load as well.
        from isodepth.cli.program import cli

        cli.main(None if arguments is None else list(arguments), prog_name="isodepth")
    except KeyboardInterrupt:
        return 130
    except SystemExit as stop:
        return int(stop.code or 0)
