"""The command line: one module a command."""

from isodepth.cli.main import main

__all__ = ["main"]
