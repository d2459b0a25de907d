"""Results of other tools as runs of ours: stored once, and shown like calls that were held here."""

from scenarios.importing.files import Imported, refuse, stop_import
from scenarios.importing.store import import_path, store
from scenarios.importing.uploads import clear_away, import_upload, import_waiting, is_reading, keep_upload

__all__ = [
    "Imported",
    "clear_away",
    "import_path",
    "import_upload",
    "import_waiting",
    "is_reading",
    "keep_upload",
    "refuse",
    "stop_import",
    "store",
]
