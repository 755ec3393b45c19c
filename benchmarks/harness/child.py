"""Execution of Python code in a new process with the same packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_python(*arguments: str, **environment: str) -> str:
    """Return the output of `python *arguments`, run in the root of the project."""
    # The child must find the same packages as this process.
    paths = [str(ROOT)] + [p for p in sys.path if p]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout
