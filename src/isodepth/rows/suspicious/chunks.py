"""Suspicious rows of samples that are read in chunks, in one pass over each sample.

The scorers that measure how unusual a row is are fitted to random rows. A pass reads all chunks of
a sample once, and scores all rows.
"""

from __future__ import annotations

from collections import Counter
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
    suspicious_rows,
)
from isodepth.rows.suspicious.repeated import Sentinel, find_sentinels, repeated_values
from isodepth.rows.suspicious.results import (
    OneSidedValue,
    RepeatedValue,
    SuspiciousRow,
    SuspiciousRows,
    value_text,
)
from isodepth.rows.suspicious.scoring import Rows
from isodepth.stream.passes import Runner
from isodepth.stream.subsets import RandomRows
from isodepth.table.table import Origin, Table

# Maximum number of listed rows of a sample, those with the largest scores.
_MOST_ROWS = 1000


def suspicious_source_rows(
    pair: RandomRows,
    samples: TwoSamples,
    runner: Runner,
    changed: ChangedColumns = UNCHANGED,
) -> SuspiciousRows:
    """Find the rows of each source that do not look like any row of the other.

    Scorers are fitted to random rows of both sources, and score all rows of both. Pairs of
    categories that contradict each other are searched among the random rows only.

    Parameters
    ----------
    pair : RandomRows
    samples : TwoSamples
        Random rows of both sources, as the two-sample test read them.
    runner : Runner
        Object that runs the pass over each source.
    changed : ChangedColumns
    """
    if pair.is_whole:
        return _located(suspicious_rows(samples, changed), pair)
    codes, labels = category_codes(samples.categories, samples.n_rows)
    indices = changed.indices(samples.columns)
    sentinels = find_sentinels(samples.points, samples.categories, indices)
    repeated = repeated_values(samples, sentinels)
    detector = Detector.fit(samples, codes, labels, sentinels, changed)
    detector.pooled  # noqa: B018  # fitted once, before threads or Dask tasks use it
    contradictions = contradictory_rows(samples, codes, labels, changed)
    rows: list[SuspiciousRow] = []
    points: dict[tuple[str, int], np.ndarray] = {}
    unlisted, states = [], []
    for side, sample in enumerate("XY"):
        own = tuple(each for each in repeated if each.sample == sample)
        values = tuple(each for each in sentinels if each.side == side)
        step = SuspectPass(side, detector, samples.columns, labels, values, own)
        state = pair.schema.run(step, replace(pair.sources[side], _runner=runner), sample)
        states.append(state)
        step.trim(state)
        numbers = np.array([number for number, *_ in state.found], dtype=np.int64)
        origin = pair.tables[side].origin
        found = Origin(sample, origin.files, numbers)
        for at, index in enumerate(pair.locate(side, numbers).tolist()):
            _, row, point = state.found[at]
            rows.append(_at(replace(row, row=at), found, index))
            points[sample, index] = point
        drawn = pair.indices(side)
        for row in (each for each in contradictions if each.sample == sample):
            rows.append(_at(row, origin, int(drawn[row.row])))
            points[sample, rows[-1].row] = samples.points[side][row.row].copy()
        unlisted.append(state.count - len(state.found))
    exact = [
        replace(each, count=count, share=count / pair.n_rows["XY".index(each.sample)])
        for each, count in zip(
            repeated, (c for state in states for c in state.repeated), strict=True
        )
    ]
    return SuspiciousRows(
        rows=distinct_rows(rows),
        one_sided_values=_one_sided(pair, states),
        n_rows=pair.n_rows,
        skipped_columns=detector.skipped,
        repeated_values=tuple(exact),
        small_samples=tuple(
            name for name, n in zip("XY", pair.n_rows, strict=True) if n < SMALL_SAMPLE
        ),
        n_unlisted=(unlisted[0], unlisted[1]),
    )._with(
        _points=points,
        _pair_rows=samples.n_rows if len(labels) > 1 else None,
        _unrelated=detector.unrelated,
        _changed=bool(changed.named),
        _whole=bool(changed.whole),
    )


def _located(found: SuspiciousRows, pair: RandomRows) -> SuspiciousRows:
    """Return `found` with the file of each row and the index of the row in this file.

    All rows of the sources must be in memory.
    """
    origins = {table.origin.sample: table.origin for table in pair.tables}
    rows = [_at(row, origins[row.sample], row.row) for row in found.rows]
    return found._with(rows=tuple(rows))


def _at(row: SuspiciousRow, origin: Origin, index: int) -> SuspiciousRow:
    """Return a row with its file, its index in the file, and its index in the sample."""
    file, file_row = origin.place(row.row)
    return replace(row, row=index, file=file, file_row=file_row)


def _one_sided(pair: RandomRows, states: list[SuspectState]) -> tuple[OneSidedValue, ...]:
    """Return the values of categories that occur in only one source, most frequent first."""
    from scipy.special import gammaln

    values = []
    for side, sample in enumerate("XY"):
        own, other = states[side].words, states[1 - side].words
        for column, value in own.keys() - other.keys():
            count, size, total = own[column, value], pair.n_rows[side], sum(pair.n_rows)
            log = gammaln(size + 1) - gammaln(size - count + 1)
            log -= gammaln(total + 1) - gammaln(total - count + 1)
            first = np.array([states[side].first[column, value]])
            row = int(pair.locate(side, first)[0])
            values.append(OneSidedValue(sample, column, value, count, row, float(np.exp(log))))
    return tuple(sorted(values, key=lambda each: (-each.count, each.column, each.value)))


@dataclass
class SuspectState:
    """State of `SuspectPass`.

    Attributes
    ----------
    found : list of (number, SuspiciousRow, point)
        Suspicious rows with the largest scores: the number of the row, and its numeric values (d,).
    count : int
        Number of suspicious rows, also those that are not in `found`.
    words, first : dicts
        Number of rows with each value of a category, and number of the first of these rows. The
        keys are pairs of a column and a value.
    repeated : int64 ndarray
        Number of rows with each repeated value.
    """

    repeated: np.ndarray
    found: list[tuple[int, SuspiciousRow, np.ndarray]] = field(default_factory=list)
    count: int = 0
    words: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class SuspectPass(Fold):
    """Fold over the chunks of one sample that finds its suspicious rows.

    Attributes
    ----------
    side : {0, 1}
        0 if the sample is X, 1 if it is Y.
    detector : Detector
        Object that scores rows.
    names : tuple of str
        Names of the numeric columns.
    labels : list of lists of str
        Values of each category, in the order of their codes.
    sentinels, repeated : tuples of Sentinel and of RepeatedValue
        Values of this sample that many rows have in common, and that are unusual.
    """

    side: int
    detector: Detector
    names: tuple[str, ...]
    labels: list[list[str]]
    sentinels: tuple[Sentinel, ...]
    repeated: tuple[RepeatedValue, ...]

    def start(self) -> SuspectState:
        return SuspectState(np.zeros(len(self.repeated), dtype=np.int64))

    def step(self, state: SuspectState, table: Table, n_threads: int) -> None:
        points, first = table.numbers, table.origin.numbers
        # In Fortran order: columns are written and read one by one.
        codes = np.empty((len(points), len(self.labels)), dtype=np.int64, order="F")
        for c, (name, labels) in enumerate(
            zip(table.schema.category_names, self.labels, strict=True)
        ):
            own, words = table.codes[:, c], table.words(c)
            places = {word: code for code, word in enumerate(labels)}
            codes[:, c] = np.array([*(places.get(word, -1) for word in words), -1])[own]
            known = own[own >= 0] if own.min() < 0 else own
            counts = np.bincount(known, minlength=len(words)).tolist()
            for k, word in enumerate(words):
                if counts[k]:
                    if (name, word) not in state.first:
                        state.first[name, word] = first + int(np.argmax(own == k))
                    state.words[name, word] += counts[k]
        self._add_rows(state, Rows(points, codes), first)
        for k, each in enumerate(self.repeated):
            column = table.column(each.columns[0])
            state.repeated[k] += np.count_nonzero(column == each.value)

    def _add_rows(self, state: SuspectState, rows: Rows, number: int) -> None:
        """Add the suspicious rows of a chunk, whose first row has the number `number`.

        If the state already has `_MOST_ROWS` rows, only rows with a score above the minimum score
        of these rows are described and added. All suspicious rows are counted.
        """
        indices, scores = self.detector.unusual_rows(self.side, rows)
        repeated = [
            np.flatnonzero(rows.points[:, each.column] == each.value) for each in self.sentinels
        ]
        state.count += len(np.unique(np.concatenate([indices, *repeated])))
        full = len(state.found) == _MOST_ROWS
        least = state.found[-1][1].score if full else 0.0
        larger = scores > least
        listed = self.detector.explained_rows(self.side, rows, indices[larger], scores[larger])
        for each, own in zip(self.sentinels, repeated, strict=True):
            if each.score > least:
                listed += self._repeated_rows(each, own[:_MOST_ROWS])
        if listed:
            new = distinct_rows(listed)
            # Copies: a view of one row would keep all numbers of the chunk in memory.
            state.found += [(number + row.row, row, rows.points[row.row].copy()) for row in new]
            self.trim(state)

    def merge(self, state: SuspectState, other: SuspectState) -> None:
        state.found += other.found
        state.count += other.count
        state.words += other.words
        for key, number in other.first.items():
            state.first[key] = min(number, state.first.get(key, number))
        state.repeated += other.repeated
        self.trim(state)

    def trim(self, state: SuspectState) -> None:
        """Keep the `_MOST_ROWS` suspicious rows with the largest scores, the first of ties."""
        state.found = sorted(state.found, key=lambda each: (-each[1].score, each[0]))[:_MOST_ROWS]

    def _repeated_rows(self, sentinel: Sentinel, indices: np.ndarray) -> list[SuspiciousRow]:
        """Describe rows (k,) of a chunk that have a repeated value."""
        column, value = self.names[sentinel.column], sentinel.value
        is_date = column in self.detector.describe.dates
        shown = value_text(value, is_date)
        text = f"{name_text(column)} = {shown}, repeated here and nearly never in the other sample"
        fields = (sentinel.score, column, value, None, None, "repeated value", "", text)
        return [
            SuspiciousRow("XY"[self.side], i, *fields, is_date=is_date) for i in indices.tolist()
        ]
