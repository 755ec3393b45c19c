"""The settings of a metric, checked once: what was received, and how to fix it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isodepth.core.directions import FAMILIES
from isodepth.core.scaling import SCALES, check_scale
from isodepth.data.missing import NAN_POLICIES
from isodepth.data.validation import (
    check_boolean,
    check_choice,
    check_direction_rows,
    check_integer,
    check_n_jobs,
    check_number,
)
from isodepth.depth import Halfspace
from isodepth.depth.resolve import NO_DEPTH, DepthSource, private_copy, resolve_depth
from isodepth.errors import InvalidOptionError
from isodepth.gap.gaps import REGIONS, WAYS

#: Steps of ascent where `refine` is None, with the supremum over directions.
REFINE = 20
#: Scratch memory on the host where `memory_mb` is None.
MEMORY_MB = 256.0


def checked_settings(given: dict[str, Any]) -> tuple[dict[str, Any], DepthSource]:
    """The settings of a metric, defaults filled in, and the depth they ask for.

    Parameters
    ----------
    given : dict
        All fields of :class:`isodepth.Metric`, which documents them.
    """
    settings = dict(given)
    settings["depth"] = private_copy(given["depth"])
    source = resolve_depth(settings["depth"])
    settings["p"] = check_number(given["p"], "p", 0, low_open=True)
    settings["q"] = check_number(given["q"], "q", 1)
    settings["eps"] = check_number(given["eps"], "eps", 0, 1, low_open=True)
    if isinstance(given["directions"], str):
        check_choice(given["directions"], "directions", FAMILIES)
        settings["n_directions"] = check_integer(given["n_directions"], "n_directions", 1)
    else:
        rows = check_direction_rows(given["directions"])
        rows.setflags(write=False)
        settings["directions"], settings["n_directions"] = rows, len(rows)
    settings["levels"] = _checked_levels(given["levels"], given["n_levels"])
    settings["normalize"] = check_boolean(given["normalize"], "normalize")
    check_choice(given["gap"], "gap", WAYS)
    if check_choice(given["region"], "region", REGIONS) == "exact":
        source = _depth_of_full_regions(settings["depth"])
    settings["refine"] = _checked_refine(given["refine"], settings["q"], given["region"])
    if given["region"] == "envelope":
        source = _check_for_envelopes(given["depth"], given["gap"])
    if settings["q"] < math.inf:
        _check_for_means(given["gap"], given["region"], settings["q"])
    settings["scale"] = _checked_scale(given["scale"])
    check_choice(given["nan_policy"], "nan_policy", NAN_POLICIES)
    if given["dtype"] is not None:
        check_choice(given["dtype"], "dtype", ("float32", "float64"))
    check_n_jobs(given["n_jobs"])
    settings["memory_mb"] = MEMORY_MB
    if given["memory_mb"] is not None:
        settings["memory_mb"] = check_number(
            given["memory_mb"], "memory_mb", 0, low_open=True, high_open=True
        )
    seed = given["random_state"]
    if not (seed is None or isinstance(seed, np.random.Generator)):
        settings["random_state"] = check_integer(seed, "random_state", 0)
    return settings, source


def draws_at_random(directions: Any) -> bool:
    """Whether what `directions=` says leaves something to chance."""
    return isinstance(directions, str) and directions != "equispaced"


def check_table_settings(
    levels: Any, directions: Any, random_state: Any, gap: str, region: str
) -> None:
    """Check that tables made one by one will have the same levels and directions."""
    if isinstance(levels, str):
        raise InvalidOptionError(
            f"a table needs a fixed grid of levels, got levels={levels!r}; give their number, such "
            "as levels=20"
        )
    if draws_at_random(directions) and not isinstance(random_state, int):
        raise InvalidOptionError(
            f"tables can only be compared along the same directions, got random_state="
            f"{random_state!r}; give an integer, such as random_state=0, or an array of directions"
        )
    if gap != "search":
        raise InvalidOptionError(
            f"tables are compared along their directions only, got gap={gap!r}; use "
            "Metric.distance for the exact supremum"
        )
    if region == "exact":
        raise InvalidOptionError(
            f"tables hold the regions of the sample points, got region={region!r}; use "
            "Metric.distance for full regions of the plane"
        )


def _checked_levels(levels: Any, n_levels: Any) -> Any:
    if isinstance(levels, str):
        check_choice(levels, "levels", ("exact", "monte-carlo"))
    else:
        levels = check_integer(levels, "levels", 1, "; or 'exact', or 'monte-carlo'")
    if levels == "monte-carlo":
        if n_levels is None:
            raise InvalidOptionError("levels='monte-carlo' needs n_levels, such as n_levels=20")
        check_integer(n_levels, "n_levels", 1)
    elif n_levels is not None:
        raise InvalidOptionError(
            f"n_levels={n_levels!r} only goes with levels='monte-carlo', got levels={levels!r}; "
            f"write levels={n_levels!r} for a grid of that many"
        )
    return levels


def _checked_refine(refine: Any, q: float, region: str) -> int:
    """Steps towards the supremum; a mean over directions has none to climb to."""
    if refine is None:
        return REFINE if math.isinf(q) and region != "envelope" else 0
    steps = check_integer(refine, "refine", 0, "; or None, which chooses by q")
    if steps > 0 and q < math.inf:
        raise InvalidOptionError(
            f"refine is for the supremum over directions, which is q=inf; got "
            f"refine={refine!r} with q={q:g}, a mean over directions: leave refine out, or write "
            "refine=0"
        )
    if steps > 0 and region == "envelope":
        raise InvalidOptionError(
            f"refine moves between vertices of convex regions, which envelopes do not have; "
            f"got refine={refine!r} with region='envelope': leave refine out, or write refine=0"
        )
    return steps


def _check_for_envelopes(depth: Any, gap: str) -> DepthSource:
    if not (isinstance(depth, str) and depth == "projection"):
        raise InvalidOptionError(
            f"envelopes are quantiles along directions and need no depth, got depth={depth!r} with "
            "region='envelope'; leave depth out"
        )
    if gap != "search":
        raise InvalidOptionError(
            f"envelopes are compared along the directions only, got gap={gap!r} with "
            "region='envelope'; leave gap out"
        )
    return NO_DEPTH


def _check_for_means(gap: str, region: str, q: float) -> None:
    if gap != "search":
        raise InvalidOptionError(
            f"gap={gap!r} is the exact supremum over directions, which is q=inf; got q={q:g}, a "
            "mean over the given directions: leave gap out"
        )
    if region == "exact":
        raise InvalidOptionError(
            f"region='exact' is compared by the exact supremum over directions, which is q=inf; "
            f"got q={q:g}: leave region out"
        )


def _checked_scale(scale: Any) -> Any:
    if scale is None or (isinstance(scale, str) and scale in SCALES):
        return scale
    numbers = check_scale(scale)
    numbers.setflags(write=False)
    return numbers


def _depth_of_full_regions(depth: Any) -> DepthSource:
    if isinstance(depth, str) and depth == "halfspace":
        return Halfspace(method="exact")
    if isinstance(depth, Halfspace) and depth.method == "exact":
        return depth
    raise InvalidOptionError(
        "region='exact' needs the exact halfspace depth: use depth='halfspace' with it, got "
        f"depth={depth!r}"
    )
