"""Work on a source in chunks can be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_stops_within_a_second(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a pass raises KeyboardInterrupt within a second.

    Worker threads are running at this time.
    """
    code = f"""
import signal, sys, time
import numpy as np
import isodepth
from isodepth.metric.chunked.entry import compare
from isodepth.stream.passes import Runner

# A process that was started in the background ignores this signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
points = np.random.default_rng(0).normal(size=(30_000, 4))

def advance(count):
    open({str(tmp_path / "begun")!r}, "w").close()

def chunks():
    for _ in range(10_000):
        yield points

source = isodepth.scan(chunks)
metric = isodepth.Metric(n_directions=200, random_state=0)
try:
    compare(metric, source, source, None, Runner(advance))
except KeyboardInterrupt:
    print(time.time())
"""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    # The limit is one second, and another second for a busy machine.
    assert float(out) - sent < 2.0
