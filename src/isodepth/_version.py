"""Version number, in a file of its own so that build tools can read it without importing."""

__version__ = "0.3.0"
