"""Suspicious rows of two samples, found in one pass over each sample.

The scorers that measure how unusual a row is are fitted to rows in memory, which are random rows of
samples that are read in chunks. A pass reads all chunks of a sample once, and scores all rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from isodepth.base.export import name_text
from isodepth.base.fold import Fold
from isodepth.rows.rows import TwoSamples, category_codes
from isodepth.rows.suspicious.changed import UNCHANGED, ChangedColumns
from isodepth.rows.suspicious.detection import (
    SMALL_SAMPLE,
    Detector,
    contradictory_rows,
    distinct_rows,
)
from isodepth.rows.suspicious.repeated import Sentinel, find_sentinels, repeated_values
from isodepth.rows.suspicious.results import (
    OneSidedValue,
    SuspiciousRow,
    SuspiciousRows,
    value_text,
)
from isodepth.rows.suspicious.scoring import Rows
from isodepth.stream.passes import runner_of
from isodepth.stream.subsets import RandomRows
from isodepth.table.table import Origin, Table

# Maximum number of listed rows of a sample that is read in chunks, those with the largest scores.
_MOST_ROWS = 1000
# Maximum number of factors of a probability that are multiplied without logarithms.
_MOST_FACTORS = 1_000_000


def suspicious_rows(
    samples: TwoSamples, changed: ChangedColumns = UNCHANGED, pair: RandomRows | None = None
) -> SuspiciousRows:
    """Find the rows of each sample that do not look like any row of the other.

    Several numbers are computed for a row: its values, the logarithms of its values in positive
    columns, the residuals of a regression of each column on the others, and deviations from the
    medians of the rows with the same category. The deviations of a positive column are those of its
    values or of their logarithms, see `find_groups`. Each number is converted to a ratio: its
    distance from the median of the other sample, divided by the distance of the 1% or 99% quantile
    from this median. The threshold for a ratio is extrapolated from the tail of the ratios of the
    other sample's rows. The score of a row is the maximum of its ratios, each divided by its
    threshold. Missing values are ignored: a row is scored by the values that it has.

    A row is listed if its score exceeds 1, both relative to the other sample and relative to the
    ordinary rows of both samples together. Rows with scores up to 0.6 are ordinary, and at least
    the half of each sample with the smaller scores is ordinary. This second reference has about
    twice as many rows, so fewer correct rows are listed.

    Two more kinds of rows are listed. They have a value that many rows of their sample repeat and
    the other sample nearly never has (see `find_sentinels`), or a pair of categories that the other
    sample excludes (see `find_contradictions`).

    The columns `changed` have another distribution in the two samples, so that ordinary rows look
    unusual: in rows of X those of all changes, and in rows of Y those whose whole distribution
    differs. Their relations to other columns are not used in these rows. A value of such a column
    is scored only if it is also unusual in its own sample.

    Samples in memory are one chunk. If samples are read in chunks, the scorers are fitted to random
    rows of both, and score all rows of both. Pairs of categories are searched among the random rows
    only. At most 1000 rows of each sample are then listed, those with the largest scores.

    Parameters
    ----------
    samples : TwoSamples
        All rows of both samples, or random rows of sources.
    changed : ChangedColumns
    pair : RandomRows or None
        Random rows of two sources; None if the samples are in memory.
    """
    codes, labels = category_codes(samples.categories, samples.n_rows)
    sentinels = find_sentinels(samples.points, samples.categories, changed.indices(samples.columns))
    repeated = repeated_values(samples, sentinels)
    detector = Detector.fit(samples, codes, labels, sentinels, changed)
    values = [(each.column, each.value) for each in sentinels]
    values += [(samples.columns.index(each.columns[0]), each.value) for each in repeated]
    search = Search(detector, labels, tuple(sentinels), tuple(values))
    places = [_Places(side, pair, n) for side, n in enumerate(samples.n_rows)]
    if pair is None or pair.is_whole:
        n_rows = samples.n_rows
        states = [
            replace(search, side=own.side).of(samples.points[own.side], codes[own.side], own)
            for own in places
        ]
    else:
        n_rows = pair.n_rows[0], pair.n_rows[1]
        detector.pooled  # noqa: B018  # fitted once, before threads or Dask tasks use it
        runner = runner_of(*pair.sources)
        states = [
            pair.schema.run(
                replace(search, side=side, most=_MOST_ROWS), replace(source, _runner=runner), sample
            )
            for side, (source, sample) in enumerate(zip(pair.sources, "XY", strict=True))
        ]
    rows: list[SuspiciousRow] = []
    points: dict[tuple[str, int], np.ndarray] = {}
    for own, state, known in zip(places, states, samples.points, strict=True):
        contradictions = contradictory_rows(samples, codes, labels, own.side, changed)
        numbers = own.numbers(np.array([row.row for row in contradictions], dtype=np.int64))
        found = own.located(
            [row for _, row, _ in state.found] + contradictions,
            np.array([number for number, *_ in state.found] + numbers.tolist(), dtype=np.int64),
        )
        of_rows = [point for *_, point in state.found] + [known[row.row] for row in contradictions]
        points |= {
            (row.sample, row.row): np.array(point)
            for row, point in zip(found, of_rows, strict=True)
        }
        rows += found
    counts = np.array([state.counts for state in states])
    shared = counts[:, len(sentinels) :].T
    return SuspiciousRows(
        rows=distinct_rows([_with_counts(row, search, counts) for row in rows]),
        one_sided_values=_one_sided(states, n_rows, places),
        n_rows=n_rows,
        skipped_columns=detector.skipped,
        repeated_values=tuple(
            each._replaced(both["XY".index(each.sample)], n_rows["XY".index(each.sample)])
            for each, both in zip(repeated, shared.tolist(), strict=True)
        ),
        small_samples=tuple(name for name, n in zip("XY", n_rows, strict=True) if n < SMALL_SAMPLE),
        n_unlisted=(states[0].count - len(states[0].found), states[1].count - len(states[1].found)),
    )._with(
        _points=points,
        _pair_rows=samples.n_rows if len(labels) > 1 and n_rows != samples.n_rows else None,
        _unrelated=detector.unrelated,
        _changed=bool(changed.named),
        _whole=bool(changed.whole),
    )


@dataclass(frozen=True)
class _Places:
    """Places of rows of X (side 0) or Y (side 1), with `n` rows in memory, in the whole sample.

    The number of a row is its index, or that of `Origin` if samples are read in chunks.
    """

    side: int
    pair: RandomRows | None
    n: int

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of rows in memory, given their indices."""
        if self.pair is None:
            return rows
        return self.pair.tables[self.side].origin.row_numbers(self.n)[rows]

    def indices(self, numbers: np.ndarray) -> np.ndarray:
        """Return the indices of rows in their sample."""
        return numbers if self.pair is None else self.pair.locate(self.side, numbers)

    def located(self, rows: Sequence[SuspiciousRow], numbers: np.ndarray) -> list[SuspiciousRow]:
        """Return rows with their indices in the sample and their files, given their numbers."""
        indices = self.indices(numbers).tolist()
        if self.pair is None:
            return [replace(row, row=i) for row, i in zip(rows, indices, strict=True)]
        origin = Origin("XY"[self.side], self.pair.tables[self.side].origin.files, numbers)
        return [
            replace(row, row=i, file=file, file_row=file_row)
            for row, i, (file, file_row) in zip(
                rows, indices, map(origin.place, range(len(numbers))), strict=True
            )
        ]


def _with_counts(row: SuspiciousRow, search: Search, counts: np.ndarray) -> SuspiciousRow:
    """Return a row with a repeated value with its text, which has the number of rows with it.

    `counts` (2, V) are the numbers of rows of X and of Y with each value of the search.
    """
    if row.reason != "repeated value":
        return row
    side, names = "XY".index(row.sample), search.detector.columns
    own, other = next(
        (int(counts[side, v]), int(counts[1 - side, v]))
        for v, each in enumerate(search.sentinels)
        if each.side == side and (names[each.column], each.value) == (row.column, row.value)
    )
    never = "never" if other == 0 else f"only {other} times"
    shown = value_text(float(row.value), row.is_date)
    text = f"{name_text(row.column)} = {shown} in {own} rows, {never} in the other sample"
    return replace(row, text=text)


def _one_sided(
    states: Sequence[Suspects], n_rows: tuple[int, int], places: Sequence[_Places]
) -> tuple[OneSidedValue, ...]:
    """Return the values of categories that occur in only one sample, most frequent first."""
    values = []
    for side, sample in enumerate("XY"):
        own, other = states[side].words, states[1 - side].words
        for column, value in own.keys() - other.keys():
            count, size, total = own[column, value], n_rows[side], sum(n_rows)
            row = int(places[side].indices(np.array([states[side].first[column, value]]))[0])
            chance = _chance_of_one_sample(count, size, total)
            values.append(OneSidedValue(sample, column, value, count, row, chance))
    return tuple(sorted(values, key=lambda each: (-each.count, each.column, each.value)))


def _chance_of_one_sample(count: int, size: int, total: int) -> float:
    """Return the probability that `count` of `total` rows are all in a sample of `size` rows."""
    if count <= _MOST_FACTORS:
        before = np.arange(count)
        return float(np.prod((size - before) / (total - before)))
    log = math.lgamma(size + 1) - math.lgamma(size - count + 1)
    return math.exp(log - math.lgamma(total + 1) + math.lgamma(total - count + 1))


@dataclass
class Suspects:
    """State of `Search`.

    Attributes
    ----------
    counts : int64 ndarray
        Number of rows with each of the values that are counted.
    found : list of (number, SuspiciousRow, point)
        Suspicious rows with the largest scores: the number of the row, and its numeric values (d,).
    count : int
        Number of suspicious rows, also those that are not in `found`.
    words, first : dicts
        Number of rows with each value of a category, and number of the first of these rows. The
        keys are pairs of a column and a value.
    """

    counts: np.ndarray
    found: list[tuple[int, SuspiciousRow, np.ndarray]] = field(default_factory=list)
    count: int = 0
    words: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Search(Fold):
    """Fold over the chunks of one sample that finds its suspicious rows.

    Attributes
    ----------
    detector : Detector
        Object that scores rows.
    labels : list of lists of str
        Values of each category, in the order of their codes.
    sentinels : tuple of Sentinel
        Sentinels of both samples.
    values : tuple of (int, float)
        Columns and values that are counted.
    side : {0, 1}
        0 if the sample is X, 1 if it is Y.
    most : int or None
        Maximum number of rows that are kept; None for all.
    """

    detector: Detector
    labels: list[list[str]]
    sentinels: tuple[Sentinel, ...]
    values: tuple[tuple[int, float], ...]
    side: int = 0
    most: int | None = None

    def start(self) -> Suspects:
        return Suspects(np.zeros(len(self.values), dtype=np.int64))

    def of(self, points: np.ndarray, codes: np.ndarray, places: _Places) -> Suspects:
        """Return the final state for the rows of a sample in memory, which are one chunk."""
        state = self.start()
        self._add(state, points, codes, self.labels, 0)
        numbers = places.numbers(np.arange(len(points))).tolist()
        state.found = [(numbers[i], row, point) for i, row, point in state.found]
        state.first = {key: numbers[i] for key, i in state.first.items()}
        return self.finish(state)

    def step(self, state: Suspects, table: Table, n_threads: int) -> None:
        words = [table.words(c) for c in range(len(self.labels))]
        self._add(state, table.numbers, table.codes, words, table.origin.numbers)

    def merge(self, state: Suspects, other: Suspects) -> None:
        state.found += other.found
        state.count += other.count
        state.words += other.words
        for key, number in other.first.items():
            state.first[key] = min(number, state.first.get(key, number))
        state.counts += other.counts
        self._trim(state)

    def finish(self, state: Suspects) -> Suspects:
        self._trim(state)
        return state

    def _add(
        self,
        state: Suspects,
        points: np.ndarray,
        found: np.ndarray,
        words: Sequence[Sequence[str]],
        first: int,
    ) -> None:
        """Add a chunk, whose first row has the number `first`.

        `points` (n, d) are its numbers, and `found` (n, k) are indices in `words`, the values of
        each category in this chunk.
        """
        # In Fortran order: columns are written and read one by one.
        codes = np.empty(found.shape, dtype=np.int64, order="F")
        for c, (name, labels) in enumerate(zip(self.detector.categories, self.labels, strict=True)):
            own, places = found[:, c], {word: code for code, word in enumerate(labels)}
            codes[:, c] = np.array([*(places.get(word, -1) for word in words[c]), -1])[own]
            counts = np.bincount(own[own >= 0], minlength=len(words[c])).tolist()
            for k, word in enumerate(words[c]):
                if counts[k]:
                    if (name, word) not in state.first:
                        state.first[name, word] = first + int(np.argmax(own == k))
                    state.words[name, word] += counts[k]
        for v, (j, value) in enumerate(self.values):
            state.counts[v] += np.count_nonzero(points[:, j] == value)
        self._add_rows(state, Rows(points, codes), first)

    def _add_rows(self, state: Suspects, rows: Rows, number: int) -> None:
        """Add the suspicious rows of a chunk, whose first row has the number `number`.

        If the state already has the maximum number of rows, only rows with a score above the
        minimum score of these rows are described and added. All suspicious rows are counted.
        """
        indices, scores = self.detector.unusual_rows(self.side, rows)
        sentinels = [each for each in self.sentinels if each.side == self.side]
        repeated = [np.flatnonzero(rows.points[:, each.column] == each.value) for each in sentinels]
        state.count += len(np.unique(np.concatenate([indices, *repeated])))
        full = len(state.found) == self.most
        least = state.found[-1][1].score if full else 0.0
        larger = scores > least
        listed = self.detector.explained_rows(self.side, rows, indices[larger], scores[larger])
        for each, own in zip(sentinels, repeated, strict=True):
            if each.score > least:
                listed += self._repeated_rows(each, own[: self.most])
        if listed:
            # Copies: a view of one row would keep all numbers of the chunk in memory.
            state.found += [
                (number + row.row, row, rows.points[row.row].copy())
                for row in distinct_rows(listed)
            ]
            self._trim(state)

    def _trim(self, state: Suspects) -> None:
        """Keep the `most` suspicious rows with the largest scores, the first of ties."""
        state.found = sorted(state.found, key=lambda each: (-each[1].score, each[0]))[: self.most]

    def _repeated_rows(self, sentinel: Sentinel, indices: np.ndarray) -> list[SuspiciousRow]:
        """Return rows (k,) of a chunk with a repeated value, without texts."""
        column = self.detector.columns[sentinel.column]
        is_date = column in self.detector.describe.dates
        fields = (sentinel.score, column, sentinel.value, None, None, "repeated value", "", "")
        return [
            SuspiciousRow("XY"[self.side], i, *fields, is_date=is_date) for i in indices.tolist()
        ]
