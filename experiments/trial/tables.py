"""Real tables of the trial, with at most 2000 rows each."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from experiments.tables import sources

MAX_ROWS = 2000
#: Tables of earlier studies, for the development of the checker of sentences.
PRACTICE = (
    "AER/Fatalities", "AER/HMDA", "Ecdat/Caschool", "HSAUR/Forbes2000", "ISLR/Credit",
    "carData/Chile", "fpp3/prices", "gt/metro", "medicaldata/covid_testing",
    "mosaicData/SaratogaHouses", "nycflights13/airports", "openintro/epa2021",
)  # fmt: skip
#: Tables of the first trial, which have been used for the development since.
FORMER = (
    "AER/GSS7402", "AER/PSID1976", "AER/USSeatBelts", "Ecdat/Computers", "Ecdat/Treatment",
    "Ecdat/breaches", "HistData/CholeraDeaths1849", "Stat2Data/Marathon", "carData/KosteckiDillon",
    "causaldata/social_insure", "dslabs/polls_us_election_2016", "fpp3/aus_accommodation",
    "mlmRev/egsingle", "modeldata/Sacramento", "modeldata/hpc_data", "openintro/yrbss",
    "ratdat/complete_old", "stevedata/USFAHR", "survival/pbcseq (pbc)", "wooldridge/happiness",
)  # fmt: skip
SETS = {
    "trial": sources.TRIAL, "retrial": sources.RETRIAL, "unseen": sources.UNSEEN,
    "practice": PRACTICE, "former": FORMER,
}  # fmt: skip
#: Columns with dates as strings that are parsed, so that their type is that of dates.
DATES = {
    "dslabs/polls_us_election_2016": ("startdate", "enddate"),
    "HistData/CholeraDeaths1849": ("date",),
    "mosaicData/Gestation": ("date",),
    "mosaicData/Births2015": ("date",),
    "stevedata/ESS9GB": ("stintrvw", "endintrvw"),
    "survival/cgd": ("random",),
    "openintro/get_it_dunn_run": ("date",),
}


@cache
def load(name: str) -> pd.DataFrame:
    """Load a table. If it has more than `MAX_ROWS` rows, some are drawn at random."""
    frame = sources.load(name)
    for column in DATES.get(name, ()):
        frame[column] = pd.to_datetime(frame[column])
    if len(frame) > MAX_ROWS:
        rows = np.random.default_rng(7).choice(len(frame), MAX_ROWS, replace=False)
        frame = frame.iloc[np.sort(rows)].reset_index(drop=True)
    return frame
