"""Detection of suspicious rows, which do not look like any row of the other sample."""

from __future__ import annotations

from isodepth.rows.suspicious.changed import UNCHANGED, ChangedColumns
from isodepth.rows.suspicious.repeated import repeated_values
from isodepth.rows.suspicious.results import (
    RULE,
    OneSidedValue,
    RepeatedValue,
    SuspiciousRow,
    SuspiciousRows,
)
from isodepth.rows.suspicious.search import suspicious_rows

__all__ = [
    "RULE",
    "UNCHANGED",
    "ChangedColumns",
    "OneSidedValue",
    "RepeatedValue",
    "SuspiciousRow",
    "SuspiciousRows",
    "repeated_values",
    "suspicious_rows",
]
