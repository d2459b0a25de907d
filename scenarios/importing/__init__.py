"""Results of other tools as runs of ours: stored once, and shown like calls that were held here."""

from scenarios.importing.store import Imported, import_path, stop_import

__all__ = ["Imported", "import_path", "stop_import"]
