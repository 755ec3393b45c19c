"""Everything that isodepth prints about two samples: in memory, from files, and by a monitor."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Answer:
    """Printed lines of one call, and the samples as pandas reads them.

    Attributes
    ----------
    source : str
        Name of the call, such as "two_sample_test".
    x, y : pandas.DataFrame
    lines : list of str
    pvalue : float
    significant : bool
        Whether the p-value is at most 5%, or a monitor has an alarm.
    headline : str
    compared : list of str
        Compared columns.
    first : list of str
        Columns of the first change.
    counts : dict
        Numbers of suspicious rows of each sample, and of changes.
    """

    source: str
    x: pd.DataFrame
    y: pd.DataFrame
    lines: list[str]
    pvalue: float
    significant: bool
    headline: str = ""
    compared: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)


def in_memory(x: pd.DataFrame, y: pd.DataFrame, report: bool = False) -> Answer:
    """Test two data frames, and collect all sentences of the result."""
    import isodepth

    result = isodepth.two_sample_test(x, y, random_state=0)
    answer = _of_result("two_sample_test", x, y, result)
    if report:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            result.report(path)
            answer.lines.extend(_report_lines(path.read_text("utf-8")))
    return answer


def from_files(x: pd.DataFrame, y: pd.DataFrame, folder: Path) -> Answer:
    """Write two tables to CSV files, and test them with `scan`."""
    import isodepth

    paths = _written(x, y, folder)
    result = isodepth.two_sample_test(*map(isodepth.scan, paths), random_state=0)
    x, y = map(pd.read_csv, paths)
    return _of_result("scan", x, y, result)


def command(x: pd.DataFrame, y: pd.DataFrame, folder: Path) -> Answer:
    """Write two tables to CSV files, and test them on the command line."""
    paths = _written(x, y, folder)
    done = subprocess.run(
        [sys.executable, "-m", "isodepth", "test", *paths, "--random-state", "0"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.strip()[-300:])
    lines = [line.strip() for line in done.stdout.splitlines()]
    shown = re.search(r"\(p = ([\d.e+-]+)", lines[0])
    p = float(shown[1]) if shown else 1.0
    x, y = map(pd.read_csv, paths)
    return Answer("command line", x, y, lines, p, p <= 0.05, lines[0])


def monitored(x: pd.DataFrame, y: pd.DataFrame) -> Answer:
    """Fit a monitor to X, and check Y as the first batch."""
    import isodepth

    monitor = isodepth.Monitor(x, random_state=0)
    verdict = monitor.check(y)
    lines = [
        re.sub(r"^(?:changes|suspicious) {2,}", "", line.strip())
        for line in str(verdict).splitlines()
    ]
    first = list(verdict.changes[0].columns) if verdict.changes else []
    compared = [k.column for k in monitor.kinds if k.use != "omit"]
    counts = {"changes": len(verdict.changes)}
    return Answer(
        "monitor", x, y, lines, verdict.pvalue, verdict.alarm, "", compared, first, counts
    )


def _written(x: pd.DataFrame, y: pd.DataFrame, folder: Path) -> list[str]:
    paths = [str(folder / f"{name}.csv") for name in "XY"]
    for frame, path in zip((x, y), paths, strict=True):
        frame.to_csv(path, index=False)
    return paths


def _of_result(source: str, x: pd.DataFrame, y: pd.DataFrame, result: Any) -> Answer:
    rows = result.suspicious_rows()
    lines = [
        result.headline, *str(result).splitlines(), *map(str, result.changes),
        *map(str, result.checks), *result.notes, *str(rows).splitlines(),
    ]  # fmt: skip
    suspicious = {s: len(rows.indices(s)) for s in "XY"}
    compared = [k.column for k in result.kinds if k.use != "omit"] or list(map(str, x.columns))
    first = list(result.changes[0].columns) if result.changes else []
    counts = {"suspicious": suspicious, "changes": len(result.changes)}
    return Answer(
        source, x, y, [line.strip() for line in lines], float(result.pvalue), result.significant,
        result.headline, compared, first, counts,
    )  # fmt: skip


def _report_lines(page: str) -> list[str]:
    """Return the header, the changes and the numbers of the columns of an HTML report.

    A row of the table of columns becomes "a: median of X 1", or "a: u: 20% and 30%" for the value u
    of a category.
    """
    page = re.sub(r"<(style|script|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    header = page[page.index("<header>") : page.index("</header>")]
    text = re.search(
        r'<p class="verdict[^>]*>(.*?)(?:<span class="share">(.*?)</span>)?</p>', header
    )
    assert text is not None
    lines = [_plain(part or "") for part in text.groups()]
    lines += [_plain(p) for p in re.findall(r'<p class="quiet">(.*?)</p>', header)]
    for table in re.findall(r'<table [^>]*changes".*?</table>', page, re.DOTALL):
        heads = [_plain(head) for head in re.findall(r"<th scope=.col.*?</th>", table, re.DOTALL)]
        for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)[1:]:
            # The kind of a change follows in gray.
            row = re.sub(r'<br><span class="quiet">.*?</span>', "", row)
            name, *cells = map(_plain, re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL))
            if heads[0] == "change":
                # The page has no colon after names such as "a at least 3".
                lines.append(f"{name}{'' if ': ' in name else ':'} {cells[0]}")
                continue
            for head, cell in zip(heads[1:], cells, strict=False):
                if head.startswith("median") and cell:
                    lines.append(f"{name}: {head} {cell}")
            if cells and "%" in cells[-1]:
                lines.append(f"{name}: {cells[-1]}")
    return [line for line in lines if line]


def _plain(part: str) -> str:
    text = html.unescape(re.sub(r"<[^>]+>", " ", part)).replace("→", "->")
    return re.sub(r"\s+([,.:;])", r"\1", " ".join(text.split()))


def quietly(function: Any, *arguments: Any) -> Any:
    """Call a function without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)
