"""Versions, in one place (the build reads the first one from here)."""

__version__ = "0.1.0"

#: Raised whenever the same key, run and step lead to another random number.
STREAM_VERSION = 1
