"""Samples that are read in chunks: files, arrays, functions and Dask collections."""
