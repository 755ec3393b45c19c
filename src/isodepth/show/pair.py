"""Content of the report about a comparison or a test of two samples.

Typical rows are those of X and of Y that are farthest apart along the direction in which the
samples differ most. They describe the difference if there are many unnamed columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.parse import quote

import numpy as np

from isodepth.base.export import Headline
from isodepth.base.output import csv_bytes
from isodepth.base.words import counted
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.functions.changes import at_least
from isodepth.metric.attribution import largest_contributions
from isodepth.metric.comparison import ChanceLevel, Comparison
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import SuspiciousRows
from isodepth.rows.suspicious.results import repeated_texts, value_text
from isodepth.rows.typical import TypicalRows
from isodepth.show.columns import (
    UnusualValue,
    change_figure,
    column_figure,
    score_figure,
    unusual_values,
)
from isodepth.show.figures import contributions, gap_profile, null_distribution
from isodepth.show.regions import nested_regions
from isodepth.show.repeat import Reading, repeat_code
from isodepth.show.style import WIDTH, loose_axes, loose_figure
from isodepth.significance.result import TwoSampleResult
from isodepth.table.dates import day_text
from isodepth.table.kinds import attention_lines, date_columns
from isodepth.table.missing import MissingShare

_MAX_CHANGES, _MAX_ROWS = 30, 100
# Maximum number of columns with a figure. A figure takes about 30 ms and 3 kB.
_MAX_COLUMNS = 100
# Maximum number of rows of both samples whose scores are drawn, about 0.3 s.
_MAX_SCORES = 100_000
# Maximum number of values that are shown for a suspicious row besides its unusual value.
_MAX_VALUES = 4
# Width and height of the figure of a column, in inches.
_SMALL = 2.3, 0.72
# Maximum number of projections for the level of chance. If more are needed, the level of chance is
# omitted, because it would be slow.
MOST_SPLIT_PROJECTIONS = 1 << 32
N_SPLITS = 19


class Pair:
    """Comparison or test of two samples, with the names of the samples.

    The other attributes are the parts of the report. They are None if the result lacks them.

    Attributes
    ----------
    result : Comparison or TwoSampleResult
    x, y : str
        Names of the samples, by default those of `result`.
    files : sequence of Reading, or None
        Files that the samples were read from.
    test : TwoSampleResult or None
    tested : Comparison or TwoSampleResult
        The test if there is one, else `result`.
    """

    def __init__(
        self,
        result: Comparison | TwoSampleResult,
        names: Sequence[str] | None = None,
        files: Sequence[Reading] | None = None,
    ) -> None:
        names = result._names if names is None else names
        if isinstance(names, str) or len(names) != 2:
            raise InvalidOptionError(f"names must be two strings, got {names!r}", option="names")
        if str(names[0]) == str(names[1]):
            raise InvalidOptionError(
                f"names must be two different strings, got {str(names[0])!r} twice, so that the "
                "samples cannot be told apart; rename one of them",
                option="names",
            )
        self.result, self.names, self.files = result, names, files
        self.x, self.y = names
        self.test: TwoSampleResult | None = result._test
        self.tested: Comparison | TwoSampleResult = result._tested

    @cached_property
    def comparison(self) -> Comparison | None:
        """Comparison; None for a test of categories alone, and for a test without rows."""
        if isinstance(self.result, Comparison):
            return self.result
        with suppress(InvalidInputError):
            return self.result._comparison
        return None

    @cached_property
    def samples(self) -> TwoSamples | None:
        """Rows of both samples; None if the result has no rows, as after `without_rows`."""
        with suppress(InvalidInputError):
            return self.result._two_samples
        return None

    @cached_property
    def rows(self) -> SuspiciousRows | None:
        """Suspicious rows."""
        return None if self.samples is None else self.result.suspicious_rows()

    @cached_property
    def typical(self) -> TypicalRows | None:
        """Rows that describe the difference, if there are many unnamed columns."""
        return self.result._typical

    @cached_property
    def chance(self) -> ChanceLevel | str:
        """Distances between random splits of the pooled rows, or the reason why there are none."""
        comparison = self.comparison
        if comparison is None:
            return "no level of chance without a distance"
        if not comparison._keeps_rows:
            return "no level of chance: the result has no rows in memory"
        if N_SPLITS * comparison._splitting_cost > MOST_SPLIT_PROJECTIONS:
            return (
                f"level of chance omitted: {N_SPLITS} comparisons of samples of this size take "
                "long; chance_level() computes it in Python"
            )
        try:
            return comparison.chance_level(N_SPLITS)
        except InvalidInputError:
            return "no level of chance for rows with weights"

    # -- sentences --------------------------------------------------------------------------

    @property
    def headline(self) -> Headline:
        """Headline of the report."""
        return self.result._headline(self.names)

    @property
    def subtitle(self) -> str:
        """One sentence with the numbers of further findings; "" if there are none."""
        parts = [*self.tested._further_changes]
        if self.rows is not None and len(self.rows):
            parts.append(self.rows._summary(self.names))
        if self.result.missing is not None and any(self.result.missing.n_dropped):
            dropped = counted(sum(self.result.missing.n_dropped), "row")
            parts.append(f"{dropped} with missing values, left out of the distance")
        if not parts:
            return ""
        *first, last = parts
        return f"Also found: {', '.join(first)}{' and ' if first else ''}{last}."

    @property
    def warnings(self) -> list[str]:
        """Sentences about data that were not compared, and columns of doubtful kind."""
        return [self.result._unused_part(self.names), *attention_lines(self.tested.kinds)]

    @property
    def changed_share(self) -> str:
        """Sentence about the share of changed rows.

        It is "" without a test, if the test is not significant, if the bound is below 1%, and for
        a test with blocks.
        """
        test = self.test
        if test is None or not test.significant or not at_least(test.changed_share):
            return ""
        return f"{test.changed_share_text[:1].upper()}{test.changed_share_text[1:]}."

    @property
    def repeated(self) -> list[str]:
        """Sentences about unusual values that many rows have in common."""
        dates = date_columns(self.tested.kinds)
        return repeated_texts(self.result._repeated_values, self.names, dates)

    @property
    def distance_name(self) -> str:
        """Name of the distance, which differs for a test, because its settings differ."""
        of_test = self.result is self.test
        return "distance between trimmed regions" if of_test else "distance"

    @property
    def distance_sentences(self) -> str:
        """Sentences about the distance, its level of chance, and the settings of a test."""
        assert self.comparison is not None
        sentence = self.comparison._distance_sentence(self.chance, self.distance_name)
        text = f"{sentence[:1].upper()}{sentence[1:]}."
        if self.result is not self.test:
            return text
        settings = self.comparison.settings
        return (
            f"{text} This distance has the settings of the test: {settings['levels']} levels, "
            f"q = {settings['q']:g}, and medians instead of missing values. The function compare "
            "and the command compare have other settings and give another number."
        )

    @property
    def contributions(self) -> str:
        """Columns with the largest contributions to the distance."""
        return "" if self.comparison is None else largest_contributions(
            self.comparison.contributions
        )  # fmt: skip

    @property
    def code(self) -> str:
        """Python code that repeats the result."""
        return repeat_code(self.result, self.files)

    def lines(self) -> list[str]:
        """Return a summary with suspicious rows and the level of chance."""
        return self.result._summary(self.names, self.rows, self.chance)

    def content(self) -> dict[str, Any]:
        """Return the content of the report as a dictionary for the JSON output of commands."""
        chance = self.chance
        return {
            **self.result.to_dict(),
            "headline": self.headline.sentence,
            "remarks": self.result._remarks(self.rows, self.names),
            "unchanged_columns": self._unchanged_columns(),
            "suspicious_rows": None if self.rows is None else self.rows.to_dict(),
            "typical_rows": None if self.typical is None else self.typical.to_dict(),
            "chance_level": None if isinstance(chance, str) else chance.to_dict(),
            "chance_level_omitted": chance if isinstance(chance, str) else None,
            "code": self.code,
        }

    # -- tables -----------------------------------------------------------------------------

    def changes(self, most: int = _MAX_CHANGES, *, drawn: bool = True) -> list[dict[str, Any]]:
        """Return at most `most` changes, the strongest first.

        A change has a small figure if it names columns, the rows are known, and `drawn` is True.
        """
        entries = []
        for change in self.test.changes[:most] if self.test is not None else ():
            figure, text = None, ""
            if drawn and self.samples is not None and change.columns:
                figure = loose_figure(*_SMALL)
                text = change_figure(change, self.samples, figure, self._unusual)
            share = at_least(change.changed_share)
            entries.append({"change": change, "figure": figure, "text": text, "share": share})
        return entries

    @cached_property
    def _unusual(self) -> list[UnusualValue]:
        """Values of suspicious rows, which figures of columns show."""
        return [] if self.rows is None else unusual_values(self.rows)

    @cached_property
    def columns(self) -> list[dict[str, Any]]:
        """All columns, with medians and figures, if the rows are known; at most 100 figures.

        The columns are in the order of their p-values. Without a test they are in the order of the
        data, with columns of categories last. There are none if typical rows describe the
        difference, because names of many unnamed columns do not help a reader.
        """
        test, samples = self.test, self.samples
        pvalues = {} if test is None else {each.column: each.pvalue for each in test.column_tests}
        names = list(pvalues)
        if self.typical is not None:
            names = []
        elif samples is not None and test is None:
            names = [*samples.columns, *samples.categories]
        entries = []
        for place, name in enumerate(names):
            entry: dict[str, Any] = {"name": name, "pvalue": pvalues.get(name), "figure": None}
            entry["medians"] = self._medians(name)
            if samples is not None and name in date_columns(samples.kinds) and entry["medians"]:
                entry["medians"] = [m if m is None else day_text(m) for m in entry["medians"]]
            if samples is not None and place < _MAX_COLUMNS:
                entry["figure"] = loose_figure(*_SMALL)
                entry["text"] = column_figure(name, samples, entry["figure"], self._unusual)
            entries.append(entry)
        return entries

    def _medians(self, name: str) -> list[float | None] | None:
        """Return the medians of a column in X and Y; None if the column has no numbers."""
        if self.samples is None or name not in self.samples.columns:
            return None
        both = self.samples.numbers(name)
        return [float(np.median(values)) if len(values) else None for values in both]

    def _unchanged_columns(self) -> list[dict[str, Any]]:
        """Return the p-values and medians of the columns without a significant change.

        The list is empty without a test.
        """
        if self.test is None:
            return []
        changed = {name for change in self.test.changes for name in change.columns}
        return [
            {"column": each.column, "pvalue": each.pvalue, "medians": self._medians(each.column)}
            for each in self.test.column_tests
            if each.column not in changed
        ]

    def suspicious(self, most: int = _MAX_ROWS) -> list[dict[str, Any]]:
        """Return at most `most` suspicious rows, with some of their values.

        Rows of samples that are read in chunks may have their unusual value only.
        """
        rows, samples = self.rows, self.samples
        if rows is None or samples is None:
            return []
        table: list[dict[str, Any]] = []
        dates = date_columns(samples.kinds)
        whole = self.result._has_all_rows or rows.n_rows == samples.n_rows
        for row in rows.rows[:most]:
            unusual = (row.column, row._value_text, True)
            shown: list[tuple[str, float | str, bool]] = []
            if whole or rows._points is not None:
                values = rows._points_of(row, samples)
                others = [j for j, name in enumerate(samples.columns) if name != row.column]
                for j in others[:_MAX_VALUES]:
                    name, value = samples.columns[j], float(values[j])
                    odd, is_date = value == row.value, name in dates
                    text = value_text(value, is_date)
                    shown.append((name, text if odd or is_date else value, odd))
            at = 0  # the unusual value is in the order of the data, or first if it is a category
            if row.column in samples.columns:
                own = samples.columns.index(row.column)
                at = sum(samples.columns.index(name) < own for name, _, _ in shown)
            shown.insert(at, unusual)
            name = self.names["XY".index(row.sample)]
            table.append({"row": row, "sample": name, "values": shown})
        return table

    @property
    def csv(self) -> str:
        """All suspicious rows as a data URL of a CSV file."""
        assert self.rows is not None
        samples = [self.names["XY".index(row.sample)] for row in self.rows]
        columns = self.rows._rows() | {"sample": samples}
        wanted = ("sample", "row", "file", "file_row", "column", "value", "score")
        kept = {name: columns[name] for name in wanted if name in columns}
        return "data:text/csv;charset=utf-8," + quote(csv_bytes(kept))

    @property
    def typical_table(self) -> dict[str, list[Any]]:
        """Rows that are most typical of the difference."""
        assert self.typical is not None
        indices = [self.typical.indices(sample).tolist() for sample in "XY"]
        return {
            "sample": list(self.names),
            "most typical rows": [", ".join(map(str, each)) for each in indices],
            "share of the most extreme rows": list(self.typical.purity),
            "share of all rows": list(self.typical.expected),
        }

    @property
    def row_counts(self) -> dict[str, list[Any] | None]:
        """Numbers of rows of X and Y: all rows, tested rows, rows in the distance, dropped rows.

        The test uses rows with missing values, and the distance of a comparison does not.
        """
        result = self.result
        paths = None if self.files is None else [
            "standard input" if file.path == "-" else file.path for file in self.files
        ]  # fmt: skip
        counts = {"sample": list(self.names), "file": paths, "rows": list(result.n_rows)}
        if self.test is not None:
            counts["tested rows"] = list(self.test.n_used_rows)
        if isinstance(result, Comparison):
            counts["rows in the distance"] = list(result.n_used_rows)
            if result.missing is not None:
                dropped = list(result.missing.n_dropped)
                counts["left out of the distance, with missing values"] = dropped
        return counts

    @property
    def missing_shares(self) -> list[MissingShare]:
        """Shares of missing values of all columns that have missing values."""
        missing = self.result.missing
        shares = () if missing is None else missing.shares
        return [share for share in shares if share.before or share.after]

    # -- figures ----------------------------------------------------------------------------

    @property
    def score_figure(self) -> Any:
        """Figure of the scores of all rows; None if there are more than 100,000 rows."""
        samples = self.samples
        if samples is None or sum(samples.n_rows) > _MAX_SCORES:
            return None
        rows = self.result.typical_rows(max(samples.n_rows)).rows
        x, y = (np.array([row.score for row in rows if row.sample == sample]) for sample in "XY")
        return score_figure(x, y, loose_figure(WIDTH, 1.5))

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Figures of the distance and of the test by name.

        There is no figure of contributions if all contributions are 0, if the test is not
        significant, or if typical rows describe the difference.
        """
        comparison, test, figures = self.comparison, self.test, {}
        if comparison is not None:
            if comparison._keeps_rows and comparison.regions[0].n_features > 1:
                ax = loose_axes(WIDTH, 5.2)
                figures["regions"] = nested_regions(comparison, ax=ax, names=self.names)
            figures["gaps"] = gap_profile(comparison, ax=loose_axes(WIDTH, 3.8))
            shown = test is None or test.significant
            if shown and comparison.contributions and self.typical is None:
                height = 1.3 + 0.29 * min(len(comparison.contributions), 15)
                figures["columns"] = contributions(comparison, ax=loose_axes(WIDTH, height))
        if test is not None:
            figures["null"] = null_distribution(test, ax=loose_axes(WIDTH, 3.0))
        return figures
