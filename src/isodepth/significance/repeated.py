"""Changes of repeated rows: their description, the value that the copies have in common, ties."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from isodepth.base.export import name_text
from isodepth.functions.changes import Change
from isodepth.significance.features import Feature
from isodepth.significance.samples import Samples
from isodepth.table.arrays import is_duplicated, row_hashes
from isodepth.table.kinds import date_columns, rank_columns, subtracted_integers
from isodepth.table.values import visible

# Minimum fraction of the copies with a common value that is named, and maximum probability that
# random rows have the value as often.
_IN_COMMON, _CHANCE = 0.9, 0.01
# Mean number of rows per repeated value of a single column above which they are not copied rows.
_MANY_TIES = 5


def repeated_change(samples: Samples, feature: Feature, pvalue: float) -> Change:
    """Describe a change of the share of rows that occur more than once in their own sample.

    The shares are those of ``duplicated(keep=False)`` of pandas for the compared columns. A value
    that all or nearly all copies have in common is named.
    """
    table, n_x = samples.table, samples.n_x
    is_copy = np.concatenate([is_duplicated(part) for part in np.split(table, [n_x])])
    before, after = float(is_copy[:n_x].mean()), float(is_copy[n_x:].mean())
    change = replace(feature.share_change(pvalue), before=before, after=after)
    where = "" if samples.read.has_all_columns else ", in the compared columns only"
    in_sample = np.arange(len(table)) < n_x if before > after else np.arange(len(table)) >= n_x
    common = _value_in_common(samples, is_copy, np.flatnonzero(in_sample))
    if where or common:
        change = replace(change, description=f"repeated rows{where}{common}:")
    return change


def among_random_rows(change: Change) -> Change:
    """Return the change with a description that names random rows if it is about repeated rows.

    Random rows of a sample are repeated less often than all of its rows.
    """
    if change.kind != "repeated":
        return change
    words = change._label.replace("repeated rows", "repeated rows among the random rows", 1)
    return replace(change, description=words)


def _value_in_common(samples: Samples, is_copy: np.ndarray, rows: np.ndarray) -> str:
    """Return the value of one column that copies of rows have in common, as a phrase.

    `is_copy` (n_x + n_y,) indicates the rows that are repeated in their sample, and `rows` are the
    rows of the sample with more of them. Among the distinct rows of this sample, the value must be
    significantly more frequent in those that are repeated. Return "" if there is no such value.
    """
    from scipy.special import bdtrc

    table, kinds, d = samples.table, samples.read.kinds, len(samples.names)
    first = rows[np.unique(row_hashes(table[rows]), return_index=True)[1]]
    skipped = {*date_columns(kinds), *rank_columns(kinds), *subtracted_integers(kinds)}
    best = 1.0, 0.0, ""
    for j, name in enumerate(samples.all_names):
        values, counts = np.unique(table[rows[is_copy[rows]], j], return_counts=True)
        fraction, value = counts.max() / counts.sum(), values[counts.argmax()]
        if name in skipped or fraction < _IN_COMMON or np.isnan(value):
            continue
        has_value = table[first, j] == value
        usual, copied = has_value.mean(), has_value[is_copy[first]]
        chance = float(bdtrc(copied.sum() - 1, len(copied), usual)) if usual < 1 else 1.0
        if chance * table.shape[1] <= _CHANCE:
            shown = f"{value:.10g}"
            if j >= d:
                shown = visible(samples.categories[j - d].all_values[int(value)])
            percent = 100 * fraction
            shown_percent = f"{percent:.0f}" if percent < 99 else f"{min(percent, 99.9):.1f}"
            share = "all" if fraction == 1 else f"{shown_percent}% of the"
            text = f" ({share} copies have {name_text(name)} = {shown})"
            best = min(best, (chance, usual - fraction, text))
    return best[2]


def ties_explain(samples: Samples, changed: Collection[str]) -> bool:
    """Return whether rows are repeated because columns changed, and not because rows were copied.

    Examples of such changes of the columns `changed` are rounding and a frequent value such as
    -999. In the sample with more repeated rows, at least half as many rows must be repeated after
    each of these columns is shuffled, which separates copies. In the other sample, at least half as
    many rows must be repeated if these columns are left out: their other columns are then equal
    without copies. In a table of one column, a repeated value must have more than five rows on
    average.
    """
    table, names = samples.table, samples.all_names
    parts = np.split(table, [samples.n_x])
    shares = [is_duplicated(part).mean() for part in parts]
    side = int(np.argmax(shares))
    others = [j for j, name in enumerate(names) if name not in changed]
    if not changed or is_duplicated(parts[1 - side][:, others]).mean() < 0.5 * shares[side]:
        return False
    if len(names) == 1:
        copies = parts[side][is_duplicated(parts[side])]
        return len(copies) > _MANY_TIES * len(np.unique(row_hashes(copies)))
    rng = np.random.default_rng(0)
    shuffled = parts[side].copy()
    for j, name in enumerate(names):
        if name in changed:
            shuffled[:, j] = rng.permutation(shuffled[:, j])
    return bool(is_duplicated(shuffled).mean() >= 0.5 * shares[side])
