"""Machine and versions of a benchmark run."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib

PACKAGES = ("isodepth", "numpy", "scipy", "scikit-learn", "threadpoolctl", "POT")


def describe() -> dict[str, Any]:
    """Return the hardware, the versions of packages, and the load of the machine before the run."""
    from isodepth import __version__

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cpu": cpu_model(),
        "architecture": platform.machine(),
        "cores": joblib.cpu_count(),
        "memory_gb": memory_gb(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES} | {"isodepth": __version__},
        "blas": blas_names(),
        "load_before": load,
        # A load of half a core already affects measurements with two threads.
        "quiet": load is not None and load < 0.5,
    }


def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.lower().startswith("model name"):
            return line.partition(":")[2].strip()
    return _from_lscpu() or platform.processor() or platform.machine()


def _from_lscpu() -> str:
    # On ARM /proc/cpuinfo has only part numbers; lscpu has names.
    import subprocess

    try:
        text = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    fields = {
        k.strip(): v.strip() for k, _, v in (line.partition(":") for line in text.split("\n"))
    }
    return " ".join(fields[k] for k in ("Vendor ID", "Model name") if k in fields)


def memory_gb() -> float | None:
    """Return the memory of the machine in GB, or None if it is unknown."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError, AttributeError):
        return None


def blas_names() -> list[str]:
    """Return the BLAS libraries of NumPy."""
    import numpy as np  # noqa: F401  (loads the BLAS library)
    from threadpoolctl import threadpool_info

    blas = [i for i in threadpool_info() if i["user_api"] == "blas"]
    return sorted({f"{i['internal_api']} {i['version']} ({i['architecture']})" for i in blas})


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def markdown(result: dict[str, Any]) -> str:
    """Return a paragraph that describes the hardware."""
    versions = ", ".join(f"{k} {v}" for k, v in result["versions"].items() if v)
    busy = "" if result["quiet"] else (
        f" The machine was busy before the run (load {result['load_before']:.2f}): ratios may be "
        "off, absolute times are."
    )  # fmt: skip
    return (
        f"{result['cpu']} ({result['architecture']}), {result['cores']} core(s), "
        f"{result['memory_gb']} GB, {result['system']}, Python {result['python']}; {versions}; "
        f"BLAS: {', '.join(result['blas'])}.{busy}"
    )
