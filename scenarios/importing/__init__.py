"""Results of other tools as runs of ours: stored once, and shown like calls that were held here."""

from scenarios.importing.store import Imported, import_path, refuse, stop_import, store
from scenarios.importing.uploads import import_upload, keep_upload

__all__ = ["Imported", "import_path", "import_upload", "keep_upload", "refuse", "stop_import", "store"]
