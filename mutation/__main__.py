"""`python -m mutation`: draw mutants, try them, print what survived. `make mutants` calls this."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from mutation.harmless import outdated, why_harmless
from mutation.record import ROOMS, TESTS, Record, digest, files_under
from mutation.selection import lines_to_watch, select
from mutation.sites import Mutant, files_of, mutants_in, sample
from mutation.trial import environment_of, run_tests, try_mutant

ROOT = Path(__file__).resolve().parents[1]


def copy_tree(root: Path, copy: Path) -> None:
    """Bring the copy up to date, and leave what tools cached in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    files = {file for file in listed.stdout.split("\0") if file and (root / file).is_file()}
    for folder in ("src", "tests"):
        for file in set(files_under(copy, folder)) - files:
            (copy / file).unlink()
    for file in files:
        old, new = copy / file, root / file
        if not old.exists() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new, old)


def read_verdicts(file: Path, record: Record, state: str) -> Iterator[tuple[Mutant, dict]]:
    """What earlier runs found for this library, as far as it still holds.

    A mutant stays killed as long as the test that did it is there; a survivor of other tests has
    to meet the new ones.
    """
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            mutant, tests = Mutant(**entry.pop("mutant")), entry.pop("tests")
            if tests == state or killer(entry["by"], record):
                yield mutant, entry


def killer(by: str, record: Record) -> str:
    """The test in a line of pytest's summary, `test - error`, or nothing where it is none."""
    parts = by.split(" - ")
    starts = (" - ".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((start for start in starts if start in record.tests), "")


def control(tree: Path, results: dict[Mutant, dict], record: Record) -> None:
    """Take back what was killed by a test that fails without a mutant as well."""
    killers = {
        mutant: name
        for mutant, result in results.items()
        if result["status"] == "killed" and (name := killer(result["by"], record))
    }
    names = sorted(set(killers.values()))
    while names:
        seconds = sum(record.tests[name].seconds for name in names)
        outcome, by = run_tests(tree, names, seconds, {})
        if outcome == "passed":
            return
        broken = killer(by, record)
        if broken not in names:
            raise SystemExit(f"the tests do not run without a mutant: {by or outcome}")
        names.remove(broken)
        for mutant in [mutant for mutant, name in killers.items() if name == broken]:
            results[mutant] |= {"status": "survived", "by": f"only {broken}, which fails anyway"}


def report(tree: Path, results: dict[Mutant, dict], asked: int) -> str:
    """Every survivor with its diff, those known to be harmless with the reason, and counts."""
    counts = Counter(result["status"] for result in results.values())
    lines = []
    harmless = 0
    for mutant, result in sorted(results.items()):
        if result["status"] == "survived":
            diff = mutant.diff(tree)
            reason = why_harmless(mutant.file, diff)
            harmless += bool(reason)
            note = result["by"] or f"{result['ran']} of {result['of']} tests that execute it ran"
            lines += [f"{mutant.file}:{mutant.line}  ({note})", diff]
            lines += [f"  cannot matter: {reason}", ""] if reason else [""]
    for entry in outdated(tree):
        lines.append(f"harmless.toml speaks of a line that is no longer there: {entry}")
    number, dead = len(results), len(results) - counts["survived"]
    lines.append(
        f"{number} of {asked} mutants tried: {counts['killed']} killed, {counts['timeout']} timed "
        f"out, {counts['survived']} survived, {harmless} of them harmless"
    )
    lines.append(
        f"{100 * dead / max(number, 1):.1f}% noticed, "
        f"{100 * dead / max(number - harmless, 1):.1f}% of those that can matter"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=150, help="how many (default 150)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    parser.add_argument("--minutes", type=float, default=60, help="time limit (default 60)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default 2)")
    parser.add_argument("--rooms", nargs="+", default=ROOMS, help=f"default {' '.join(ROOMS)}")
    parser.add_argument("--tests", nargs="+", default=TESTS, help=f"default {' '.join(TESTS)}")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutation", help="folder")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes

    tree = options.out.resolve() / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    copy_tree(ROOT, tree)
    record = Record(options.out / "record.json")
    lines_of = files_of(tree, ROOMS)
    record.update(tree, options.tests, lines_of, environment_of(tree), options.jobs)
    failing = [name for name, test in record.tests.items() if not test.passed]
    if failing:
        print("not used, because they fail without a mutant:", *failing, sep="\n  ")

    files = files_of(tree, options.rooms)
    chosen = sample(
        (mutant for file in files for mutant in mutants_in(tree, file)),
        options.mutants,
        options.seed,
    )
    kept = options.out / f"verdicts-{digest(tree, files_under(tree, 'src'))[:16]}.jsonl"
    state = digest(tree, files_under(tree, "tests"))[:16]
    results = {
        mutant: known for mutant, known in read_verdicts(kept, record, state) if mutant in chosen
    }

    def attempt(mutant: Mutant) -> tuple[Mutant, dict] | None:
        if time.monotonic() > end:
            return None
        text = (tree / mutant.file).read_text(encoding="utf-8")
        names = select(record.tests, mutant.file, lines_to_watch(text, mutant.line))
        return mutant, try_mutant(tree, mutant, names, record.tests)

    todo = [mutant for mutant in chosen if mutant not in results]
    with ThreadPoolExecutor(options.jobs) as pool:
        for attempted in as_completed([pool.submit(attempt, mutant) for mutant in todo]):
            done = attempted.result()
            if done is None:
                continue
            mutant, result = done
            results[mutant] = result
            with kept.open("a", encoding="utf-8") as file:
                entry = {"mutant": dataclasses.asdict(mutant), "tests": state} | result
                file.write(json.dumps(entry) + "\n")
            where = f"{mutant.file.removeprefix('src/isodepth/')}:{mutant.line}"
            print(f"{len(results):4} {result['status']:8} {where}  {result['by'][:90]}", flush=True)
    control(tree, results, record)
    text = report(tree, results, len(chosen))
    (options.out / f"report-{options.seed}.txt").write_text(text + "\n", encoding="utf-8")
    print(f"\n{text}")


if __name__ == "__main__":
    main()
