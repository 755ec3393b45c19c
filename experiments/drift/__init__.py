"""Drift detection on real tables: isodepth beside the tools that people use today."""
