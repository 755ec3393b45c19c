"""Keep a random sample of the mutants of a Cosmic Ray session: SESSION COUNT SEED PACKAGE..."""

from __future__ import annotations

import random
import re
import sqlite3
import sys
from pathlib import Path

# Mutants of these lines cannot change a result: a check of equal lengths, the size of a cache,
# copies of arrays that are only read.
WITHOUT_EFFECT = re.compile(
    r"strict=True.*ReplaceTrueWithFalse|lru_cache|copy=False.*ReplaceFalseWithTrue"
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
        there = [
            job
            for job, path, row, operator in found
            if path.split("/")[2] in packages
            and not WITHOUT_EFFECT.search(f"{lines[path][row - 1]} {operator}")
        ]
        kept = set(random.Random(int(seed)).sample(there, min(int(count), len(there))))
        everything = [job for (job,) in database.execute("SELECT job_id FROM work_items")]
        dropped = [(job,) for job in everything if job not in kept]
        for table in ("mutation_specs", "work_results", "work_items"):
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", dropped)
    print(f"{len(kept)} of {len(there)} mutants in {', '.join(packages)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
