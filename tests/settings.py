"""The site's settings with a throw-away folder: what the tests and the processes that they start run with.

Loaded by pytest-django before any conftest, so nothing of a developer's own database or files is ever touched.
Workers of pytest-xdist share a machine and nothing else: each has its folder, its databases and its queue of tasks.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

if "CALLBOARD_VAR" not in os.environ:
    os.environ["CALLBOARD_VAR"] = tempfile.mkdtemp(prefix="callboard-test-")
    atexit.register(shutil.rmtree, os.environ["CALLBOARD_VAR"], ignore_errors=True)
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
# A process that a worker's test starts inherits the worker's name and its folder: it is to be in the same one.
if WORKER and Path(os.environ["CALLBOARD_VAR"]).name != WORKER:
    os.environ["CALLBOARD_VAR"] = str(Path(os.environ["CALLBOARD_VAR"]) / WORKER)
if "EVAL_DATA_ROOT" not in os.environ and (ROOT.parent / "shared" / "benchmarks").is_dir():
    os.environ["EVAL_DATA_ROOT"] = str(ROOT.parent / "shared" / "benchmarks")

from evalsite.settings import *  # noqa: E402, F403  (the environment above must be set first)
from evalsite.settings import DATABASES, Q_CLUSTER, STATIC_ROOT, STORAGES  # noqa: E402

# Servers that tests start find the style sheets without collectstatic.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
STATIC_ROOT.mkdir(exist_ok=True)
if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    # Only a crash of the server itself could lose what it does not wait for, and no test crashes it.
    DATABASES["default"].setdefault("OPTIONS", {})["options"] = "-c synchronous_commit=off"
# The broker may serve others: another worker, or the developer's own site. A cluster sees the tasks of its name only.
Q_CLUSTER["name"] = "-".join(filter(None, ("callboard-test", WORKER)))
# The default hasher is slow by design, and most tests sign somebody in.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
