"""Run Python code in a fresh process that sees the same packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_python(*arguments: str, **environment: str) -> str:
    """What `python *arguments` prints, run from the root of the project."""
    # Imports must work however this process came by its own.
    paths = [str(ROOT)] + [p for p in sys.path if p]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout
