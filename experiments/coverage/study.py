"""Rate at which the bound on the share of changed rows exceeds the total variation distance.

    python -m experiments coverage --runs 500 --jobs 16
    python -m experiments coverage --table --runs 8       # bounds of a few changes

One JSON line per setting and 20 data sets. A run continues its file. If isodepth 0.3.0 is
installed, ``--table`` computes the bound of that version, `smallest_tolerance`. ``--former FILE``
prints these bounds next to the bounds of this version, for the same data sets.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.coverage.settings import SETTINGS, TABLE
from experiments.options import add_names
from experiments.tables.study import append_results, read_lines

#: Data sets per line of the file.
CHUNK = 20
#: Rounding error of a bound, which is a ratio of counts.
ROUNDING = 1e-9


def _test(draw: Any, n: int, name: str, number: int, n_permutations: int, **options: Any) -> Any:
    import isodepth

    x, y = draw(np.random.default_rng([number, zlib.crc32(name.encode())]), n)
    return isodepth.two_sample_test(
        x, y, n_permutations=n_permutations, random_state=number, n_jobs=1, **options
    )


def bounds(name: str, numbers: Iterable[int], n_permutations: int = 199) -> list[dict[str, Any]]:
    """Compute the bounds of several data sets of the setting `name`, one per entry of `numbers`.

    The number of a data set is a part of its seed. `changed_share` is the bound of the test.
    `excess` is the maximum, over the reported changes, of the bound minus the true distance of the
    columns. For several columns, the distance of the rows is an upper bound of the true distance.
    """
    setting = SETTINGS[name]
    found = []
    for number in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = _test(setting.draw, setting.n, name, number, n_permutations)
            share = float(result.changed_share)
            changes = result.changes
        excess = [
            change.changed_share
            - (
                setting.margins.get(change.columns[0], 0.0)
                if len(change.columns) == 1
                else setting.tv
            )
            for change in changes
            if change.changed_share is not None
        ]
        found.append({"changed_share": share, "excess": max(excess, default=None)})
    return found


def _evaluate(job: tuple[str, int, int]) -> dict[str, Any]:
    name, chunk, n_permutations = job
    line = {"setting": name, "chunk": chunk, "n_permutations": n_permutations}
    try:
        found = bounds(name, range(CHUNK * chunk, CHUNK * (chunk + 1)), n_permutations)
    except Exception as error:  # a failure is a result
        return {**line, "error": f"{type(error).__name__}: {error}"[:300]}
    return {**line, "bounds": found}


def _evaluate_table(job: tuple[str, int, int, int]) -> dict[str, Any]:
    import isodepth

    name, n, number, n_permutations = job
    former = not hasattr(isodepth.typing.TwoSampleResult, "changed_share")
    options = {"tolerance": 0.0} if former else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = _test(TABLE[name][0], n, name, number, n_permutations, **options)
        bound = result.smallest_tolerance if former else result.changed_share
    return {"row": name, "n": n, "number": number, "bound": float(bound)}


def summary(lines: Iterable[dict[str, Any]]) -> str:
    """Return the bounds and their excesses over the true distances, as a Markdown table."""
    found: dict[str, list[dict[str, Any]]] = {}
    errors = set()
    for line in lines:
        found.setdefault(line["setting"], []).extend(line.get("bounds", []))
        if "error" in line:
            errors.add(f"* {line['setting']}: `{line['error']}`")
    text = [
        "| setting | data sets | true value | mean bound | above the true value (%) "
        "| a change above its true value (%) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    rates: dict[str, list[tuple[float, str]]] = {}
    for name, setting in SETTINGS.items():
        entries = found.get(name, [])
        if not entries:
            continue
        shares = np.array([entry["changed_share"] for entry in entries])
        above = np.mean(shares > setting.tv + ROUNDING)
        changes = np.mean([(entry["excess"] or 0.0) > ROUNDING for entry in entries])
        text.append(
            f"| {name} | {len(entries)} | {setting.tv:.3f} | {shares.mean():.3f} "
            f"| {100 * above:.1f} | {100 * changes:.1f} |"
        )
        kind = "above the true value, rows changed" if setting.tv else "above 0, rows not changed"
        rates.setdefault(kind, []).append((above, name))
        rates.setdefault("a change above its true value", []).append((changes, name))
    text.append("")
    for kind, found_rates in rates.items():
        largest = sorted(found_rates, reverse=True)[:3]
        listed = "; ".join(f"{100 * rate:.1f}% ({name})" for rate, name in largest)
        text.append(f"* largest rates, {kind}: {listed}")
    return "\n".join([*text, *sorted(errors)])


def table_summary(lines: Sequence[dict[str, Any]], former: Sequence[dict[str, Any]] = ()) -> str:
    """Return the mean and the range of the bounds, per change and number of rows, as Markdown.

    `former` are results of another version for the same data sets. Their means are in parentheses.
    """
    sizes = sorted({line["n"] for line in lines})
    text = [
        f"| change | true value | {' | '.join(f'n = {n:,}' for n in sizes)} |",
        f"|---|---:|{'---|' * len(sizes)}",
    ]
    for name, (_, tv) in TABLE.items():
        cells = []
        for n in sizes:
            values, before = (
                [line["bound"] for line in part if line["row"] == name and line["n"] == n]
                for part in (lines, former)
            )
            cell = (
                f"{np.mean(values):.3f}, {min(values):.3f} to {max(values):.3f}" if values else ""
            )
            cells.append(cell + (f" ({np.mean(before):.3f})" if before else ""))
        text.append(f"| {name} | {tv:.2f} | {' | '.join(cells)} |")
    return "\n".join(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study with command-line arguments, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=500, help="data sets per setting")
    add_names(parser, "--settings", SETTINGS)
    parser.add_argument("--table", action="store_true", help="bounds of a few changes instead")
    parser.add_argument("--former", type=Path, help="with --table: results of another version")
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args(arguments)
    out = options.out or Path(f"out/coverage/{'table' if options.table else 'coverage'}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = read_lines(out)
    if options.table:
        known = {(line["row"], line["n"], line["number"]) for line in lines}
        rows = [
            (name, n, number, options.permutations)
            for n in (200, 1000, 10_000)
            for name in TABLE
            for number in range(options.runs)
            if (name, n, number) not in known
        ]
        append_results(out, _evaluate_table, rows, options.jobs)
        print(table_summary(read_lines(out), read_lines(options.former) if options.former else ()))
        return 0
    done = {(line["setting"], line["chunk"]) for line in lines}
    # Large samples first, so that the last jobs are short.
    names = sorted(options.settings, key=lambda name: -SETTINGS[name].n)
    jobs = [
        (name, chunk, options.permutations)
        for name in names
        for chunk in range(-(-options.runs // CHUNK))
        if (name, chunk) not in done
    ]
    append_results(out, _evaluate, jobs, options.jobs)
    print(summary(read_lines(out)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
