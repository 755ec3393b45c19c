"""Version number, in its own file so that build tools can read it without importing isodepth."""

__version__ = "0.4.0"
