"""The version, alone in its file so that build tools can read it without importing."""

__version__ = "0.3.0"
