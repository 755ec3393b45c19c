"""`isodepth compare` of folders and large files: read in chunks, here or by a Dask cluster."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from isodepth.chunked.entry import compare
from isodepth.chunked.opening import scan
from isodepth.chunked.runner import Runner
from isodepth.chunked.sources import Source
from isodepth.data.extras import load_extra
from isodepth.data.validation import check_same_width
from isodepth.errors import InvalidInputError, InvalidOptionError, IsodepthError

if TYPE_CHECKING:
    from isodepth.api import Metric
    from isodepth.chunked.comparison import SourceComparison

#: Files above this are read in chunks.
LARGE_BYTES = 1 << 28
#: How long to wait for a scheduler to answer.
SCHEDULER_SECONDS = 10.0


def wanted(options: argparse.Namespace) -> bool:
    """Whether the tables are read in chunks: a folder, a large file, or a cluster asked for."""
    return options.scheduler is not None or any(map(_is_large, (options.a, options.b)))


def _is_large(path: str) -> bool:
    try:
        return os.path.isdir(path) or os.path.getsize(path) > LARGE_BYTES
    except (OSError, ValueError):
        return False  # what is wrong with it is said where it is read


def compare_sources(options: argparse.Namespace, metric: Metric) -> SourceComparison:
    """Compare two tables that are read in chunks."""
    if options.refine:
        raise InvalidOptionError(
            f"tables in chunks cannot be refined, got --refine {options.refine}; leave it out"
        )
    columns = _columns(options)
    a, b = scan(options.a, columns), scan(options.b, columns)
    b = _aligned(a, b)
    with _runner(options.scheduler, sys.stderr.isatty()) as runner:
        return compare(metric, a, b, None, runner)


def _columns(options: argparse.Namespace) -> list[str] | None:
    """The columns that were asked for, in one list."""
    given = getattr(options, "columns", None)
    return None if given is None else [name for text in given for name in text.split(",")]


def _aligned(a: Source, b: Source) -> Source:
    """The second with the columns of the first, in its order."""
    check_same_width(a.n_features, b.n_features, a.label, b.label)
    if a.columns and b.columns:
        odd = [f"{name!r} is only in {a.label}" for name in a.columns if name not in b.columns]
        odd += [f"{name!r} is only in {b.label}" for name in b.columns if name not in a.columns]
        if odd:
            raise InvalidInputError(f"the tables have different columns: {', '.join(odd)}")
    return b.aligned(a.columns)


@contextmanager
def _runner(scheduler: str | None, shown: bool) -> Iterator[Runner]:
    with _pass_bar(shown) as bar:
        if scheduler is None:
            yield Runner(bar)
            return
        distributed = load_extra("distributed", "dask", "--scheduler")
        from isodepth.chunked.dask import DaskRunner

        try:
            client = distributed.Client(scheduler, timeout=SCHEDULER_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InvalidOptionError(
                f"--scheduler {scheduler}: no Dask scheduler answers there "
                f"({' '.join(str(error).split()) or type(error).__name__}); give an address such "
                "as tcp://host:8786"
            ) from error
        try:
            yield DaskRunner(client, bar)
        except IsodepthError:
            raise
        finally:
            client.close()


@contextmanager
def _pass_bar(shown: bool) -> Iterator[Any]:
    """What is told of passes and chunks: a bar on a terminal, if there is tqdm."""
    try:
        tqdm = load_extra("tqdm", "progress", "a progress bar") if shown else None
    except IsodepthError:
        tqdm = None
    if tqdm is None:
        yield None
        return
    with tqdm.tqdm(unit="chunk", file=sys.stderr, leave=False) as bar:
        yield PassBar(bar)


class PassBar:
    """A bar over the chunks of one pass after the other."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.passes: dict[str, int] = {}
        self.chunks: dict[str, int] = {}
        self.label = ""

    def begin(self, label: str) -> None:
        """A pass over the source of that name begins."""
        if self.passes.get(self.label) == 1:
            self.chunks[self.label] = self.bar.n
        self.label = label
        self.passes[label] = self.passes.get(label, 0) + 1
        self.bar.reset(total=self.chunks.get(label))
        self.bar.set_description(f"{label}, pass {self.passes[label]}")

    def __call__(self, count: int) -> None:
        self.bar.update(count)
