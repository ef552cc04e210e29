"""The one place the version is written: packaging, `--version` and report headers read it from here."""

__version__ = "0.1.0"
