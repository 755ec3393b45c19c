"""Results with Dask do not depend on the scheduler, the workers, or failures of workers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chunked.streaming import small_scale

import isodepth
from isodepth import Metric, errors, scan
from isodepth.metric.chunked.region_tables import stream_table
from isodepth.stream.passes import DaskRunner

cloudpickle = pytest.importorskip("cloudpickle")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

POINTS = np.random.default_rng(1).normal(size=(9000, 3))
METRIC = Metric(n_directions=20, levels=8, random_state=0)
EXPECTED = METRIC.region_table(POINTS).values
# Seconds after which a test that waits for a cluster fails.
PATIENCE = 240.0

# Workers cannot import this module if another package named "tests" is installed.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """Return the result of `work`, or fail if it takes more than `seconds`."""
    result: Future[Any] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return result.result(seconds)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        memory_limit="700MiB",
        dashboard_address=None,
        silence_logs=50,
    ) as made:
        yield made


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as made:
        yield made


def streamed(source: Any, client: Any = None) -> np.ndarray:
    with small_scale(few=100, pilots=4096):
        made = stream_table(METRIC, source, in_memory=False, runner=DaskRunner(client))
    return made.table.values


def assert_expected(values: np.ndarray) -> None:
    assert np.allclose(values, EXPECTED, rtol=1e-12, atol=1e-12)


# -- the scheduler of the machine -----------------------------------------------------------------


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_local_schedulers(scheduler: str) -> None:
    import dask.array as da

    source = scan(da.from_array(POINTS, chunks=(2500, 2)))
    with dask.config.set(scheduler=scheduler):
        assert_expected(streamed(source))


def test_collections_are_samples() -> None:
    import dask.array as da
    import dask.dataframe as dd

    x, y = POINTS[:200], POINTS[200:500] + 1
    options = {"n_directions": 20, "levels": 8, "refine": 0, "random_state": 0}
    expected = isodepth.distance(x, y, **options)
    array = da.from_array(x, chunks=(90, 3))
    assert isodepth.distance(array, y, **options) == expected
    assert scan(array.astype("float32")).dtype == "float32"
    frames = [dd.from_pandas(pd.DataFrame(z, columns=list("abc")), npartitions=2) for z in (x, y)]
    assert isodepth.distance(*frames, **options) == expected
    named = scan(frames[0], ["c", "a"], weights="b")
    assert (named.columns, named.weighted, named.dtype) == (("c", "a"), True, "float64")
    with pytest.raises(isodepth.errors.InvalidInputError, match="Array with shape"):
        scan(da.from_array(x[:, 0]))
    with pytest.raises(isodepth.errors.InvalidInputError, match="no column 'e'"):
        scan(frames[0], ["e"])


def test_many_sources() -> None:
    bags = [POINTS[i * 40 : i * 40 + 30 + i] for i in range(5)]
    options = {"n_directions": 20, "levels": 8, "random_state": 0}
    sources = [scan([bag[:7], bag[7:]]) for bag in bags]
    tables = isodepth.region_tables(sources, **options).values
    assert np.array_equal(tables, isodepth.region_tables(bags, **options).values)
    distances = isodepth.pairwise([scan(bag) for bag in bags], **options)
    assert np.array_equal(distances, isodepth.pairwise(bags, **options))
    with pytest.raises(isodepth.errors.InvalidInputError, match="Dask collection"):
        isodepth.region_tables([dask.delayed(bags[0])], **options)


# -- a cluster ------------------------------------------------------------------------------------


def test_any_number_of_workers(cluster: Any, client: Any) -> None:
    parts = [POINTS[i : i + 1300] for i in range(0, 9000, 1300)]
    # Two workers are first, because removing a worker is faster than starting one.
    for workers in (2, 1):
        cluster.scale(workers)
        client.wait_for_workers(workers, timeout=PATIENCE)
        assert_expected(within(PATIENCE, lambda: streamed(scan(parts), client)))


class Troubled:
    """Function that returns chunks, and with which one Dask worker fails in the way `trouble`.

    The worker fails at the fourth chunk of the second pass.
    """

    def __init__(self, folder: Path, trouble: str) -> None:
        self.folder, self.trouble = folder, trouble

    def __call__(self) -> Iterator[np.ndarray]:
        for i in range(0, 9000, 1000):
            yield POINTS[i : i + 1000]
            if i == 3000 and self._is_first_in_pass():
                if self.trouble == "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                held = []
                while True:  # until the nanny ends this worker
                    held.append(np.ones(20 * 2**17))
                    time.sleep(0.02)

    def _is_first_in_pass(self) -> bool:
        if "distributed.worker" not in sys.modules or not _in_worker():
            return False
        passes = len(list(self.folder.iterdir()))
        (self.folder / f"{time.monotonic_ns()}").touch()
        # Fail in the second pass.
        return passes == 1


def _in_worker() -> bool:
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("trouble", ["killed", "memory"])
def test_a_worker_dies_in_a_pass(trouble: str, tmp_path: Path, cluster: Any, client: Any) -> None:
    cluster.scale(2)
    client.wait_for_workers(2, timeout=PATIENCE)
    chunks = Troubled(tmp_path, trouble)
    # A lambda function, so that cloudpickle is used.
    source = scan(lambda: chunks())
    assert_expected(within(PATIENCE, lambda: streamed(source, client)))
    # One file for each start of a pass on a worker: more than passes, because one was repeated.
    assert len(list(tmp_path.iterdir())) > 2


def test_errors_come_back_from_workers(tmp_path: Path, client: Any) -> None:
    holes = POINTS[:100].copy()
    holes[55, 1] = np.nan
    frame = pd.DataFrame(holes, columns=list("abc"))
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=20)
    with pytest.raises(
        isodepth.errors.InvalidInputError, match=r"t\.parquet, row group 2 contains 1 NaN"
    ):
        within(PATIENCE, lambda: streamed(scan(tmp_path), client))


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_reach_the_client_of_a_cluster(name: str) -> None:
    # The import of distributed changes how exceptions are pickled.
    error = getattr(errors, name)("the message")
    received = pickle.loads(pickle.dumps(error))
    assert type(received) is type(error)
    assert str(received) == str(error)
