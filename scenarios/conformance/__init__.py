"""Conformance: recorded facts of the reference system, run against the code. The formats: ``conformance/README.md``."""

from scenarios.conformance.files import FileReport, LineFailure, run_file, vector_files

__all__ = ["FileReport", "LineFailure", "run_file", "vector_files"]
