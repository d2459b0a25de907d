"""Where the benchmark files are: one plain setting, since domains know no Django."""

import os
from pathlib import Path

_DEFAULT = Path(__file__).resolve().parents[2] / "data" / "benchmarks"
_root: Path | None = None


def data_root() -> Path:
    """Return the folder of the benchmark files: what was set, else EVAL_DATA_ROOT, else ``data/benchmarks``."""
    return _root or Path(os.environ.get("EVAL_DATA_ROOT") or _DEFAULT)


def set_data_root(path: Path | None) -> None:
    """Use another folder; None goes back to the environment. Domains that are already loaded keep their files."""
    global _root
    _root = path
