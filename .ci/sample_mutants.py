"""Keep a random sample of the mutants of a Cosmic Ray session: SESSION COUNT SEED PACKAGE...

Mutants that are listed in mutants_without_effect.toml are left out before the sample is drawn.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tomllib
from pathlib import Path

LIST = Path(__file__).with_name("mutants_without_effect.toml")
LISTED = tomllib.loads(LIST.read_text())["mutant"]


def has_no_effect(path: str, line: str, operator: str) -> bool:
    """Return whether a mutant is listed as one that no test can detect."""
    return any(
        path.endswith(each["file"]) and each["line"] in line and each["operator"] in operator
        for each in LISTED
    )


def main(session: str, count: str, seed: str, *packages: str) -> None:
    with sqlite3.connect(session) as database:
        # In an order that does not depend on the identifiers, which differ from run to run.
        found = database.execute(
            "SELECT job_id, module_path, start_pos_row, operator_name FROM mutation_specs "
            "WHERE job_id NOT IN (SELECT job_id FROM work_results) "
            "ORDER BY module_path, start_pos_row, start_pos_col, operator_name, occurrence"
        ).fetchall()
        lines = {path: Path(path).read_text().splitlines() for _, path, *_ in found}
        candidates = [
            job
            for job, path, row, operator in found
            if path.split("/")[2] in packages
            and not has_no_effect(path, lines[path][row - 1], operator)
        ]
        kept = set(random.Random(int(seed)).sample(candidates, min(int(count), len(candidates))))
        everything = [job for (job,) in database.execute("SELECT job_id FROM work_items")]
        dropped = [(job,) for job in everything if job not in kept]
        for table in ("mutation_specs", "work_results", "work_items"):
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", dropped)
    print(f"{len(kept)} of {len(candidates)} mutants in {', '.join(packages)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
