"""Tables from files, under their public name."""

from isodepth.data.readers import Table, read_table

__all__ = ["Table", "read_table"]
