"""Settings of the site: the only reader of the environment, safe by default."""

import secrets
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = BASE_DIR / "data"

env = environ.FileAwareEnv()
environ.Env.read_env(BASE_DIR / ".env")

VAR_DIR = Path(env.str("CALLBOARD_VAR", str(DATA_DIR / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)
# Where the benchmark files are: fetched there by fetch_benchmarks, or a folder that has them already.
BENCHMARK_DIR = Path(env.str("EVAL_DATA_ROOT", str(DATA_DIR / "benchmarks")))


def _secret_key() -> str:
    """Return the key from the environment, else the one kept beside the database (made at first start)."""
    if key := env.str("SECRET_KEY", ""):
        return str(key)
    path = VAR_DIR / "secret_key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50))
    return path.read_text()


SECRET_KEY = _secret_key()
DEBUG = env.bool("DEBUG", False)
HTTPS = env.bool("HTTPS", False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "daphne",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "csp",
    "django_htmx",
    "django_q",
    "scenarios",
    "evalsite",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "evalsite.middleware.ReaderZoneMiddleware",
    "evalsite.middleware.SignInMiddleware",
    "evalsite.middleware.RoleMiddleware",
]
ROOT_URLCONF = "evalsite.urls"
ASGI_APPLICATION = "evalsite.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.tz",
                "evalsite.access.context",
            ],
        },
    }
]

DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'callboard.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # WAL and IMMEDIATE: without them eight writers lose thousands of transactions to "database is locked".
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # A file, so that servers and threads started by a test see the same rows.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", "")
LANES = env.int("LANES", 1)
LANE_WIDTH = env.int("LANE_WIDTH", 16)
Q_CLUSTER: dict[str, Any] = {
    "name": "callboard",
    "workers": LANES + 2,  # beside the lanes one that reads imports, one for short tasks: preflight, the schedule
    "queue_limit": 1,
    "timeout": 3600,
    "retry": 11000,
    "max_attempts": 1,
    "ack_failures": True,
    "poll": 0.2,
    "catch_up": False,
}
if REDIS_URL:
    Q_CLUSTER["redis"] = REDIS_URL
else:
    Q_CLUSTER["orm"] = "default"

# Loopback addresses of the processes that `manage.py serve` starts beside the site.
PARTY_AGENT_URL = env.str("PARTY_AGENT_URL", "ws://127.0.0.1:8765")
PARTY_USER_URL = env.str("PARTY_USER_URL", "ws://127.0.0.1:8766")
STANDIN_URL = env.str("STANDIN_URL", "http://127.0.0.1:8767/v1")
# A TOML file of speech services that voice runs can choose by name (scenarios.speech_services).
SPEECH_SERVICES = env.str("SPEECH_SERVICES", "")
# Voice calls at once on this machine; 0: as manage.py voice_capacity measured, else by the cores
# (scenarios.voice_capacity).
VOICE_LOCKSTEP_CALLS = env.int("VOICE_LOCKSTEP_CALLS", 0)
VOICE_REALTIME_CALLS = env.int("VOICE_REALTIME_CALLS", 0)

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Holds failed sign-ins alone; so many that guesses at other names do not push out the count of one.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 10_000}},
}
CSRF_FAILURE_VIEW = "evalsite.pages.errors.csrf_failure"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": VAR_DIR / "media"},
    },
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "media-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = "Lax"
if HTTPS:
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

DATA_UPLOAD_MAX_NUMBER_FILES = 5
# One uploaded result file; larger ones are imported on the machine.
IMPORT_MAX_BYTES = env.int("IMPORT_MAX_BYTES", 1024**3)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "WARNING")},
}
