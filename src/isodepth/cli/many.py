"""The commands `isodepth pairwise` and `isodepth nearest`: many samples in files."""

from __future__ import annotations

import argparse
import os
from typing import Any, NamedTuple

import numpy as np

from isodepth.cli.outputs import (
    add_pictures,
    as_json,
    check_outputs,
    note,
    progress_wanted,
    save_plot,
    save_report,
)
from isodepth.cli.parsers import TABLES, add_command, add_json
from isodepth.cli.reading import (
    about_reading,
    align,
    omitted_rows,
    plain_table,
    read_samples,
    read_tables,
)
from isodepth.cli.settings import add_reading, add_settings, given_settings, wish_of
from isodepth.data.frames import Table
from isodepth.data.output import replace_file
from isodepth.data.saving import check_table_target, table_bytes
from isodepth.data.validation import check_integer
from isodepth.errors import InvalidInputError, InvalidOptionError

_SETTINGS = (
    "scale", "depth", "eps", "p", "q", "n_directions", "directions", "levels", "random_state",
)  # fmt: skip
_DEFAULTS = {"levels": "20"}
_TEXTS = {
    "scale": "pooled: each column in units of its spread in all samples; none: as it is",
    "levels": "at how many levels regions are compared",
}
# A matrix of more samples is not printed: its lines would be wider than a terminal.
_PRINTED = 12
_CLUSTERING = "agglomerative clustering of the distances, average linkage (scikit-learn)"


def add_pairwise_parser(commands: Any) -> None:
    """Add `pairwise` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "pairwise",
        "distances between many samples",
        f"Distances between all pairs of many samples: files {TABLES}, all tables of a folder, or "
        "the groups of rows of one file. Columns are matched by name.",
        [
            "isodepth pairwise months -o distances.csv",
            "isodepth pairwise june.csv july.csv august.csv --scale pooled",
            "isodepth pairwise year.csv --group-by month --drop-text --clusters 3 --scale pooled",
            "isodepth pairwise year.csv --group-by origin --plot matrix.png -o distances.npy",
            "isodepth pairwise months --json",
        ],
    )
    _add_samples(parser)
    add_reading(parser)
    add_settings(parser, _SETTINGS, _DEFAULTS, _TEXTS)
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o", "--output", metavar="FILE",
        help="where the matrix goes (.csv, .tsv, .parquet, .feather; .npy has no labels)",
    )  # fmt: skip
    output.add_argument(
        "--clusters", type=int, metavar="K",
        help="put the samples into K clusters, by agglomerative clustering of the distances "
        "with average linkage",
    )  # fmt: skip
    add_json(output)
    add_pictures(output, "the matrix, similar samples beside each other")
    parser.set_defaults(work=pairwise_files, report=pairwise_report, finish=write_matrix)


def add_nearest_parser(commands: Any) -> None:
    """Add `nearest` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "nearest",
        "which of many samples are nearest to one",
        f"Find the samples that are nearest to one: files {TABLES}, all tables of a folder, or the "
        "groups of rows of one file.",
        [
            "isodepth nearest june.csv months",
            "isodepth nearest june.csv july.csv august.csv -k 1",
            "isodepth nearest june.csv year.csv --group-by month --drop-text --scale pooled --json",
        ],
    )
    parser.add_argument("query", metavar="QUERY", help="the table whose neighbors are looked for")
    _add_samples(parser)
    parser.add_argument(
        "-k", type=int, default=5, metavar="K", help="how many neighbors (default 5)"
    )
    add_reading(parser)
    add_settings(parser, _SETTINGS, _DEFAULTS, _TEXTS)
    add_json(parser.add_argument_group("output"))
    parser.set_defaults(work=nearest_files, report=nearest_report)


def _add_samples(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("samples", nargs="+", metavar="SAMPLES", help="tables, or folders of them")
    parser.add_argument(
        "--group-by", metavar="COLUMN",
        help="one table: its rows with one value in this column are a sample; it is not compared",
    )  # fmt: skip


# -- pairwise -------------------------------------------------------------------------------------


class Matrix(NamedTuple):
    """The distances, and the cluster of each sample where clusters were asked for."""

    distances: Any
    clusters: list[int] | None


def pairwise_files(options: argparse.Namespace) -> Matrix:
    """All distances between the samples."""
    from isodepth.many.pairwise import pairwise

    given = _given(options)
    if options.clusters is not None:
        check_integer(options.clusters, "--clusters", 1)
    check_outputs(options)
    if options.output is not None:
        check_table_target(options.output)
    labels, samples = read_samples(options.samples, options)
    if len(samples) < 2:
        raise InvalidInputError(
            f"there is one sample only ({labels[0]}), and nothing to compare it with"
            + ("" if options.group_by else "; to take one table apart give --group-by COLUMN")
        )
    if options.clusters is not None and options.clusters > len(samples):
        raise InvalidOptionError(
            f"--clusters must be at most the number of samples, {len(samples)}; got "
            f"{options.clusters}"
        )
    pairs = list(zip(labels, samples, strict=True))
    matrix = pairwise(dict(pairs), progress=progress_wanted(), **given)
    clusters = None
    if options.clusters is not None:
        clusters = _clusters(np.asarray(matrix), options.clusters)
    return Matrix(matrix, clusters)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    from isodepth.many.pairwise import table_metric

    policy = "omit" if wish_of(options).missing else "raise"
    given = {**given_settings(options, _SETTINGS), "nan_policy": policy}
    table_metric(given).check_for_tables("float64")
    if given.get("scale") == "reference":
        raise InvalidOptionError("--scale must be pooled or none for many samples, got reference")
    return given


def _clusters(distances: np.ndarray, count: int) -> list[int]:
    """Numbers from 1, in the order in which clusters first appear."""
    if count == 1:
        return [1] * len(distances)
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(n_clusters=count, metric="precomputed", linkage="average")
    found = model.fit_predict(distances).tolist()
    order = {cluster: number for number, cluster in enumerate(dict.fromkeys(found), start=1)}
    return [order[cluster] for cluster in found]


def write_matrix(found: Matrix, notes: list[str], options: argparse.Namespace) -> None:
    """Write the matrix, its picture and its report, if asked for."""
    matrix = found.distances
    if options.output is not None:
        target = check_table_target(options.output)
        content = table_bytes(target.suffix.lower(), matrix._rows(), np.asarray(matrix))
        replace_file(target, content)
    if options.plot is not None:
        from isodepth.plot.distance_matrix import distance_matrix

        save_plot(distance_matrix(matrix), options.plot)
    save_report(matrix, options, notes)


def pairwise_report(found: Matrix, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: JSON for machines, or a few lines for people."""
    matrix, clusters = found
    if options.json:
        grouped = None
        if clusters is not None:
            each = zip(matrix.labels, clusters, strict=True)
            grouped = {"method": _CLUSTERING, "samples": dict(each)}
        more = {
            "clusters": grouped, "left_out": options.left_out, "missing": omitted_rows(options),
            "output": options.output,
        }  # fmt: skip
        return as_json({**matrix.to_dict(), **more}, notes)
    values = np.asarray(matrix)
    apart = values[~np.eye(len(values), dtype=bool)]
    lines = [
        f"samples      {len(matrix)}",
        f"distances    {apart.min():.4g} to {apart.max():.4g}, median {np.median(apart):.4g}",
    ]
    if len(matrix) > 2:
        lines += _far_and_near(matrix)
    if clusters is not None:
        for number in range(1, max(clusters) + 1):
            names = [n for n, c in zip(matrix.labels, clusters, strict=True) if c == number]
            lines.append(f"cluster {number:<4} {', '.join(names)}")
        lines.append(f"clusters by  {_CLUSTERING}")
    lines += [*about_reading(options), f"signature    {matrix.signature}"]
    for path in (options.output, options.page):
        if path is not None:
            lines.append(f"written      {path}")
    if len(matrix) <= _PRINTED:
        lines += ["", *_printed(matrix)]
    return "\n".join(lines)


def _far_and_near(matrix: Any) -> list[str]:
    """The most similar and the most different pair."""
    values = np.array(matrix, dtype=float)
    farthest = np.unravel_index(int(values.argmax()), values.shape)
    np.fill_diagonal(values, np.inf)
    nearest = np.unravel_index(int(values.argmin()), values.shape)
    return [
        f"{word:12} {matrix.labels[i]} and {matrix.labels[j]}, {np.asarray(matrix)[i, j]:.4g}"
        for word, (i, j) in (("nearest", nearest), ("farthest", farthest))
    ]


def _printed(matrix: Any) -> list[str]:
    cells = [["", *matrix.labels]]
    for label, row in zip(matrix.labels, np.asarray(matrix), strict=True):
        cells.append([label, *(f"{value:.4g}" for value in row)])
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    lines = []
    for first, *rest in cells:
        numbers = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
    return lines


# -- nearest --------------------------------------------------------------------------------------


class Nearest(NamedTuple):
    """The neighbors, how many samples there were, and how distances were made."""

    neighbors: list[tuple[str, float]]
    n_samples: int
    signature: str


def nearest_files(options: argparse.Namespace) -> Nearest:
    """The samples nearest to one."""
    from isodepth.many.pairwise import tables

    given = _given(options)
    check_integer(options.k, "-k", 1)
    labels, samples = read_samples(options.samples, options)
    left_out, omitted = options.left_out, options.omitted
    query = read_tables([options.query], options)
    options.left_out = list(dict.fromkeys([*left_out, *options.left_out]))
    options.omitted += omitted
    labels, samples = _without_query(labels, samples, options)
    first = samples[0] if isinstance(samples[0], Table) else Table(samples[0], None)
    own = align([options.samples[0], options.query], [_as_found(first), query[0]])[1]
    everything = [plain_table(own), *samples]
    stack = tables(everything, progress=progress_wanted(), **given)
    if options.k > len(samples):
        note(f"-k {options.k}: there are {len(samples)} samples only")
    distances = stack[1:].distances(stack[0])
    near = [(labels[i], float(distances[i])) for i in distances.argsort(kind="stable")[: options.k]]
    return Nearest(near, len(samples), stack.signature)


def _as_found(table: Table) -> Any:
    from isodepth.data.read_options import ReadResult

    return ReadResult(table.points, table.columns)


def _without_query(
    labels: list[str], samples: list[Any], options: argparse.Namespace
) -> tuple[list[str], list[Any]]:
    """The samples without the query itself, where it is one of the files."""
    if options.group_by is not None:
        return labels, samples
    files = options.sample_files
    same = [i for i, file in enumerate(files) if _same_file(file, options.query)]
    if not same:
        return labels, samples
    note(f"{options.query} is one of the samples, and not its own neighbor")
    kept = [i for i in range(len(files)) if i not in same]
    if not kept:
        raise InvalidInputError("the query is the only sample; give others to look through")
    return [labels[i] for i in kept], [samples[i] for i in kept]


def _same_file(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except (OSError, ValueError):
        return False


def nearest_report(found: Nearest, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: JSON for machines, or a line a neighbor."""
    if options.json:
        near = [{"sample": label, "distance": distance} for label, distance in found.neighbors]
        content = {
            "query": options.query, "nearest": near, "n_samples": found.n_samples,
            "left_out": options.left_out, "missing": omitted_rows(options),
            "signature": found.signature,
        }  # fmt: skip
        return as_json(content, notes)
    width = max(len(label) for label, _ in found.neighbors)
    lines = [f"nearest to   {options.query}, of {found.n_samples} sample(s)"]
    lines += [
        f"{place:>6}.      {label:{width}}  {distance:.6g}"
        for place, (label, distance) in enumerate(found.neighbors, start=1)
    ]
    return "\n".join([*lines, *about_reading(options), f"signature    {found.signature}"])
