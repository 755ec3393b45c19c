"""Region tables, from which distances are computed without the rows of the samples.

The region of level beta of a sample is the smallest set of its deepest rows with more than a
fraction beta of the total weight. Its support value along a direction u is the maximum of <x, u>
over its rows x.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from isodepth import _core as core
from isodepth._version import __version__
from isodepth.base.compiled import available_cores
from isodepth.base.declared import METRIC
from isodepth.base.export import EqualFields, has_label, json_settings, position_of
from isodepth.base.progress import progress_bar
from isodepth.errors import InvalidInputError, UnreadableFileError
from isodepth.geometry.directions import mean_of_direction
from isodepth.metric.settings import TABLE_DTYPES
from isodepth.metric.signature import (
    ALGORITHM,
    SETTING_TYPES,
    array_text,
    signature_text,
)
from isodepth.table.frames import clashing_columns

KIND = "region table"
# Target size in bytes of a block of tables whose distances are computed in one call.
_BLOCK_BYTES = 1 << 26


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionTable(EqualFields):
    """Support values of the nested regions of one sample, on a grid of levels and directions.

    Two tables with the same settings are compared without the rows of their samples. For the
    distances between N samples, N tables are computed once, and distances between tables are fast.
    Tables are created by :meth:`isodepth.Metric.region_table` or :func:`isodepth.region_tables`.

    Tables cannot be refined. With ``q=inf`` and more than a few dimensions the distances between
    tables are usually smaller than those of a refined :meth:`isodepth.Metric.distance`.

    Attributes
    ----------
    values : ndarray of shape (L, 2K), read-only
        Support values h(u) = max <x, u> over the points x of the region of each level: first for
        the K directions u, then for their opposites.
    settings : dict
        Settings of the table by the names of the options, such as ``settings["eps"]``, as in other
        results. Two tables can be compared only if their settings are equal, except `nan_policy`.
        The entry `scale` is a hash of the attribute `scale`:
        ``Metric(**table.settings | {"scale": table.scale})`` computes further tables. If the
        option `directions` was an array, the entry is a hash as well; replace it by the array.
    n_features : int
        Number of columns of the sample.
    columns : tuple of str or None
        Names of the columns.
    algorithm : int
        Version number of the numerical results. Tables with different numbers cannot be compared.
        If the argument is None, the number of the installed version of isodepth is used.
    scale : ndarray of shape (d,) or None
        Divisors of the columns of the sample.
    version : str
        Version of isodepth that computed the table. If the argument is None, the installed version.

    Examples
    --------
    >>> import isodepth
    >>> metric = isodepth.Metric(levels=20, random_state=0)
    >>> a = metric.region_table([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> b = metric.region_table([[3.0, 4.0], [4.0, 4.0], [3.0, 5.0], [4.0, 5.0]])
    >>> round(a.distance_to(b), 3)
    5.0
    >>> a
    RegionTable(20 levels, 2 x 1000 directions, 2 columns, float64)
      DR|depth=projection|...|levels=20|dirs=uniform:1000|refine=0|seed=0|dtype=float64|v=...
    """

    values: np.ndarray
    settings: dict[str, Any]
    n_features: int
    columns: tuple[str, ...] | None = None
    algorithm: int | None = None
    scale: np.ndarray | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        _set_versions(self)
        super().__post_init__()

    @property
    def signature(self) -> str:
        """Settings of the table as a short string, for people."""
        return signature_text(self.settings, self.version)

    def distance_to(self, other: RegionTable) -> float:
        """Compute DR_{p,eps} between the samples of two tables, with the settings of the tables.

        The result equals `Metric.distance` with the same grid of levels, the same directions and
        ``refine=0``, up to the precision of the tables. Tables that cannot be compared raise
        InvalidInputError.
        """
        check_comparable(self, other, "this table", "the other")
        return float(distances_between(self, self.values[None], other.values[None])[0, 0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to an .npz file; an existing file is replaced atomically."""
        from isodepth.base.output import write_archive

        header = {
            "settings": json_settings(self.settings),
            "isodepth_version": self.version,
            "signature": self.signature,
            "width": self.n_features,
            "columns": None if self.columns is None else list(self.columns),
            "algorithm": self.algorithm,
        }
        arrays = {"values": self.values, "scale": self.scale}
        write_archive(path, KIND, header, {k: v for k, v in arrays.items() if v is not None})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RegionTable:
        """Read a table from a file that `save` wrote.

        A damaged file, or a file of another kind, raises UnreadableFileError.
        """
        from isodepth.base.output import read_archive

        return _table_from_archive(*read_archive(path, KIND), path)

    def __repr__(self) -> str:
        n_levels, n_values = self.values.shape
        return (
            f"RegionTable({n_levels} levels, 2 x {n_values // 2} directions, {self.n_features} "
            f"columns, {self.values.dtype})\n  {self.signature}"
        )


def _set_versions(tables: RegionTable | RegionTables) -> None:
    """Set `algorithm` and `version` to those of the installed version if they are None."""
    if tables.algorithm is None:
        object.__setattr__(tables, "algorithm", ALGORITHM)
    if tables.version is None:
        object.__setattr__(tables, "version", __version__)


def distances_between(
    like: Any, rows: np.ndarray, columns: np.ndarray | None, n_jobs: int | None = 1
) -> np.ndarray:
    """Compute the distances (N, M) between the tables `rows` (N, L, 2K) and `columns` (M, L, 2K).

    If `columns` is None, compute the distances (N, N) between all pairs of `rows`. `like` is a
    table whose settings apply to all tables.
    """
    p, q, length = _mean_settings(like.settings)
    against = None if columns is None else np.ascontiguousarray(columns)
    threads = n_jobs or available_cores()
    found = core.table_distances(np.ascontiguousarray(rows), against, p, q, length, threads)
    found /= mean_of_direction(like.n_features, q)
    return found


def _mean_settings(settings: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return p, q, and the factor of the mean over levels.

    Raise ValueError if p, q or eps is invalid.
    """
    p, q, eps = (float(settings[name]) for name in ("p", "q", "eps"))
    if not (p > 0 and q >= 1 and 0 < eps <= 1):
        raise ValueError(f"p={p:g}, q={q:g} or eps={eps:g} is invalid")
    return p, q, 1.0 if settings["normalize"] else 1.0 - eps


def check_comparable(first: RegionTable, second: Any, first_name: str, second_name: str) -> None:
    """Raise InvalidInputError unless two tables can be compared.

    They must have the same settings (except `nan_policy`), algorithm number, columns, dtype and
    shape. `first_name` and `second_name` are the names of the tables in messages.
    """
    if not isinstance(second, RegionTable):
        raise InvalidInputError(
            f"{second_name} must be a RegionTable, got {type(second).__name__}; "
            "use Metric.region_table"
        )
    one, other = first.settings, second.settings
    names = [
        name
        for name in {**one, **other}
        # Rows with missing values are not in the table.
        if name != "nan_policy" and one.get(name) != other.get(name)
    ]
    if names:
        raise InvalidInputError(
            f"{first_name} and {second_name} have different settings and cannot be compared: they "
            f"differ in {', '.join(names)} ({first.signature} and {second.signature}); compute "
            "both with one Metric"
        )
    if first.algorithm != second.algorithm:
        raise InvalidInputError(
            f"{first_name} and {second_name} were computed by versions of isodepth with different "
            f"numerical results: algorithm {first.algorithm} ({first.signature}) and "
            f"{second.algorithm} ({second.signature}); compute the older table again"
        )
    for quality, mine, theirs in (
        ("columns", first.n_features, second.n_features),
        ("dtype", first.values.dtype, second.values.dtype),
        ("shape", first.values.shape, second.values.shape),
    ):
        if mine != theirs:
            raise InvalidInputError(
                f"{first_name} and {second_name} cannot be compared, because their {quality} "
                f"differ: {mine} and {theirs}; compute both with one Metric and table_dtype"
            )
    if clashing_columns(first.columns, second.columns):
        raise InvalidInputError(
            f"{first_name} and {second_name} come from samples with different columns: "
            f"{list(first.columns or ())} and {list(second.columns or ())}"
        )


def _settings_in(header: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the settings, and the version of isodepth, in the header of a file.

    Raise ValueError if they are invalid.
    """
    settings, version = header["settings"], header["isodepth_version"]
    if not isinstance(settings, dict) or not isinstance(version, str):
        raise ValueError("its settings are not a dictionary, or its version is not a string")
    for name, kinds in SETTING_TYPES.items():
        if type(settings.get(name)) not in kinds:
            raise ValueError(f"its setting {name} is {settings.get(name)!r:.80}")
    found = {name: settings[name] for name in SETTING_TYPES}
    return found | {name: float(found[name]) for name in ("p", "q")}, version


def _table_from_archive(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], path: str | os.PathLike[str]
) -> RegionTable:
    """Create a table from the header and the arrays of a file, and check that they are valid.

    Raise UnreadableFileError if anything is missing or invalid.
    """
    from isodepth.base.output import unreadable

    try:
        values, columns = arrays["values"], header["columns"]
        width, algorithm = header["width"], header["algorithm"]
        settings, version = _settings_in(header)
        signature = signature_text(settings, version)
        _mean_settings(settings)
        shape = int(settings["levels"]), 2 * int(settings["n_directions"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise unreadable(path, f"a part of the table is missing or invalid ({error!r})") from None
    if type(width) is not int or not 1 <= width < 2**31 or type(algorithm) is not int:
        raise unreadable(path, f"its width {width!r:.80} or algorithm {algorithm!r:.80} is invalid")
    if not 1 <= algorithm <= ALGORITHM:
        raise UnreadableFileError(
            f"{os.fspath(path)} has algorithm number {algorithm}; this version of isodepth reads "
            f"numbers up to {ALGORITHM}; update isodepth"
        )
    if values.ndim != 2 or str(values.dtype) not in TABLE_DTYPES or not np.isfinite(values).all():
        raise unreadable(path, f"its values are not a table: {values.dtype}, {values.shape}")
    # In one dimension a single direction is sampled, so the table has two columns.
    if values.shape not in (shape, (shape[0], 2)[: 2 if width == 1 else 0]):
        raise unreadable(path, f"its values of shape {values.shape} do not fit {signature}")
    try:
        return RegionTable(
            values=values,
            settings=settings,
            n_features=width,
            columns=_checked_columns(columns, width),
            algorithm=algorithm,
            scale=_checked_scale(arrays.get("scale"), width, settings),
            version=version,
        )
    except ValueError as error:
        raise unreadable(path, str(error)) from None


def _checked_columns(columns: Any, width: int) -> tuple[str, ...] | None:
    """Return the names of the columns in a file.

    Raise ValueError unless `columns` is None or a list of `width` strings.
    """
    if columns is None:
        return None
    if not isinstance(columns, list) or [type(name) for name in columns] != [str] * width:
        raise ValueError(f"its columns are not {width} names")
    return tuple(columns)


def _checked_scale(
    scale: np.ndarray | None, width: int, settings: Mapping[str, Any]
) -> np.ndarray | None:
    """Return the divisors (width,) of the columns in a file; raise ValueError if invalid.

    They must have the hash that the setting `scale` contains.
    """
    if scale is not None and (scale.dtype != np.float64 or scale.shape != (width,)):
        raise ValueError(f"its scale is not an array of {width} numbers")
    if array_text(scale) != settings["scale"]:
        raise ValueError(f"its scale does not fit the setting scale={settings['scale']}")
    return scale


@dataclass(frozen=True, eq=False)
class RegionTables(EqualFields):
    """Collection of :class:`RegionTable` with the same settings, stored in one array.

    ``tables["june"]`` is the table of the sample with this label, and ``"june" in tables`` whether
    there is one. Integers are positions, unless labels are integers: ``tables[2020]``. A slice
    gives a part of the collection. A loop over the collection is a loop over the tables.

    Attributes
    ----------
    values : ndarray of shape (N, L, 2K), read-only
        Support values of N tables.
    settings, n_features, columns, algorithm, scale, version
        As in :class:`RegionTable`, the same for all tables.
    labels : tuple of N labels or None
        Labels of the samples, as they were passed; None for samples without names.

    Examples
    --------
    >>> import isodepth
    >>> bags = {"may": [[0.0], [1.0]], "june": [[2.0], [3.0]]}
    >>> tables = isodepth.region_tables(bags, random_state=0)
    >>> tables.labels, "june" in tables, tables.values.shape
    (('may', 'june'), True, (2, 20, 2))
    >>> tables["may"].distance_to(tables["june"])
    2.0
    """

    values: np.ndarray
    settings: dict[str, Any]
    n_features: int
    columns: tuple[str, ...] | None
    algorithm: int | None = None
    scale: np.ndarray | None = None
    version: str | None = None
    labels: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        _set_versions(self)
        super().__post_init__()

    @property
    def signature(self) -> str:
        """Settings of all tables as a short string, for people."""
        return signature_text(self.settings, self.version)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, label: Any) -> bool:
        return has_label(label, self._names)

    def __iter__(self) -> Iterator[RegionTable]:
        return map(self._table, range(len(self)))

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, slice | list | np.ndarray):
            positions = np.arange(len(self))[item]
            if positions.ndim != 1:
                raise TypeError(f"an index of tables must be a label or positions, got {item}")
            labels = self.labels and tuple(self.labels[position] for position in positions)
            return replace(self, values=self.values[item], labels=labels)
        position = position_of(item, self._names)
        if isinstance(position, bool) or not isinstance(position, Integral):
            raise TypeError(f"an index of tables must be a label or positions, got {item!r}")
        return self._table(int(position))

    @property
    def _names(self) -> tuple[Any, ...]:
        """The labels, or "0", "1", ... without labels."""
        return self.labels or tuple(map(str, range(len(self))))

    def _table(self, position: int) -> RegionTable:
        """Return the table of the sample at a position."""
        shared = {name: value for name, value in vars(self).items() if name != "labels"}
        return RegionTable(**shared | {"values": self.values[position]})

    @classmethod
    def _of(cls, tables: Sequence[RegionTable] | RegionTables, name: str) -> RegionTables:
        """Copy tables into one `RegionTables`, and check that they are comparable.

        A `RegionTables` is returned unchanged. `name` is the name of the argument in messages.
        """
        if isinstance(tables, RegionTables):
            return tables
        for i, table in enumerate(tables):
            if not isinstance(table, RegionTable):
                raise InvalidInputError(
                    f"{name} must be all tables: {name}[{i}] is {type(table).__name__}; make "
                    "tables with isodepth.region_tables"
                )
            check_comparable(tables[0], table, f"{name}[0]", f"{name}[{i}]")
        values = np.stack([table.values for table in tables])
        return cls(**{**vars(tables[0]), "values": values})

    def distances(self, table: RegionTable, *, n_jobs: int | None = None) -> np.ndarray:
        """Compute the distances (N,) from one table to the N tables of this object.

        ``tables.distances(table).argsort()`` sorts the tables by distance.

        Parameters
        ----------
        table : RegionTable, made with the same metric
        n_jobs : int or None
            Number of threads; None or -1 for all available cores.

        Examples
        --------
        >>> import numpy as np, isodepth
        >>> rng = np.random.default_rng(0)
        >>> bags = [rng.normal(size=(60, 2)) + [i, 0] for i in range(200)]
        >>> tables = isodepth.region_tables(bags, n_directions=50, random_state=0)
        >>> tables.distances(tables[50]).argsort()[:3]
        array([50, 49, 51])
        """
        check_comparable(self._table(0), table, "these tables", "the table")
        n_jobs = METRIC["n_jobs"].check(n_jobs)
        return distances_between(self, self.values, table.values[None], n_jobs)[:, 0]

    def __repr__(self) -> str:
        return f"RegionTables({len(self)} tables of {self._table(0)!r})"


def fill_distances(
    rows: RegionTables,
    columns: RegionTables | None,
    out: np.ndarray,
    n_jobs: int | None = None,
    progress: bool = False,
) -> None:
    """Write the distances between all tables of `rows` and `columns` to `out` (N, M).

    If `columns` is None, write the distances between all pairs of `rows` to `out` (N, N). If
    `progress`, a progress bar is shown.
    """
    against = rows if columns is None else columns
    # Blocks are small, so that the progress bar is updated often.
    size = min(max(16, _BLOCK_BYTES // rows.values[0].nbytes), 512)
    blocks = [
        (slice(i, i + size), slice(j, j + size))
        for i in range(0, len(rows), size)
        for j in range(i if columns is None else 0, len(against), size)
    ]
    with progress_bar(progress, len(blocks), "distances", "block") as advance:
        for left, right in blocks:
            diagonal = columns is None and left == right
            others = None if diagonal else against.values[right]
            out[left, right] = distances_between(rows, rows.values[left], others, n_jobs)
            if columns is None and not diagonal:
                out[right, left] = out[left, right].T
            advance(1)
    if isinstance(out, np.memmap):
        out.flush()
