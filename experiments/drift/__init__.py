"""Drift detection on real tables, by isodepth and by other tools."""
