"""`python -m benchmarks`: run all sections, print them, write JSON, Markdown and a figure."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import machine
from benchmarks.harness.child import ROOT
from benchmarks.publish import checks, pages, short
from benchmarks.publish.figure import draw
from benchmarks.publish.scaling_figure import draw_scaling
from benchmarks.sections import (
    cores,
    gpu,
    growth,
    memory,
    scaling,
    shapes,
    small,
    startup,
    table,
    threads,
)

#: Sections in the order they run; each module has `measure(quick)` and `markdown(result)`.
SECTIONS: dict[str, Any] = {
    "small": small,
    "threads": threads,
    "scaling": scaling,
    "cores": cores,
    "startup": startup,
    "table": table,
    "growth": growth,
    "memory": memory,
    "shapes": shapes,
    "gpu": gpu,
}
SCALING_FIGURE = ROOT / "docs" / "figures" / "scaling.png"
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "benchmarks.md"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.publish is not None:
        return _publish(options.publish)
    named = [*options.sections, *options.only]
    for name in named:
        if name not in SECTIONS:
            parser.error(f"unknown section {name!r}; there are {', '.join(SECTIONS)}")
    chosen = [name for name in SECTIONS if not named or name in named]
    title = "bench" if not named else "bench-" + "-".join(chosen)
    results: dict[str, Any] = {"quick": options.quick, "machine": machine.describe()}
    print(machine.markdown(results["machine"]), flush=True)
    for section in chosen:
        start = time.perf_counter()
        results[section] = SECTIONS[section].measure(options.quick)
        took = time.perf_counter() - start
        print(f"\n## {section} ({took:.0f} s)\n", flush=True)
        print(SECTIONS[section].markdown(results[section]), flush=True)
        _save(results, options.out, title)
    results["checks"] = checks.measure(results)
    if results["checks"]:
        print("\n## checks\n")
        print(checks.markdown(results["checks"]))
    if options.quick:
        print("\nA quick run: it shows that everything works, its figures are not for quoting.")
    _write(results, options.out, title)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = ", ".join(SECTIONS)
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"what to run, of {names}; default all",
    )  # fmt: skip
    parser.add_argument("--only", action="append", default=[], metavar="SECTION", help="the same")
    parser.add_argument("--quick", action="store_true", help="about a minute; not for quoting")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where results go")
    parser.add_argument(
        "--publish", type=Path, metavar="JSON", help="run nothing; quote this run in the documents"
    )
    return parser


def rendered(results: dict[str, Any]) -> dict[str, str]:
    """Return every section of the results as Markdown, by name."""
    found = {name: SECTIONS[name].markdown(results[name]) for name in SECTIONS if name in results}
    # Scaling is often measured on another machine, which its text names.
    if any(name in results for name in SECTIONS if name != "scaling"):
        found["machine"] = machine.markdown(results["machine"])
    if "table" in results:
        found["short"] = short.markdown(results["table"], results["machine"])
    if results["checks"]:
        found["checks"] = checks.markdown(results["checks"])
    return found


def _write(results: dict[str, Any], out: Path, name: str) -> None:
    written = [_save(results, out, name), out / f"{name}.md"]
    parts = [f"## {title}\n\n{text}\n" for title, text in rendered(results).items()]
    written[1].write_text("\n".join(parts), encoding="utf-8")
    if draw(results, out / f"{name}.png"):
        written.append(out / f"{name}.png")
    if draw_scaling(results, out / f"{name}-scaling.png"):
        written.append(out / f"{name}-scaling.png")
    print("\n" + "\n".join(map(str, written)))


def _save(results: dict[str, Any], out: Path, name: str) -> Path:
    """Write the results of all finished sections to a JSON file in `out`, and return its path.

    It is called after every section, so that an interrupted run keeps its results.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.json"
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return path


def _publish(path: Path) -> int:
    results = json.loads(path.read_text(encoding="utf-8"))
    if results["quick"]:
        print(f"{path} is a quick run: its figures are not for quoting; run without --quick first")
        return 1
    for document in pages.publish(rendered(results), [p for p in DOCUMENTS if p.exists()]):
        print(document.relative_to(ROOT))
    if draw_scaling(results, SCALING_FIGURE):
        print(SCALING_FIGURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
