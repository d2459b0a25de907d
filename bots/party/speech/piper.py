"""Synthesis with Piper: one model a process, no noise (the same audio every time, and better understood).

One voice ships. The second is the first played 1.12 times faster and spoken 1.12 times slower, so only its pitch
differs: recognition stays as good.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import soxr

from bots.party.speech import RATE
from bots.party.speech.assets import piper_voice
from bots.party.speech.cache import SpeechCache

_PITCHES = {"joe": 1.0, "joe-high": 1.12}
# espeak, which spells the sounds out, keeps global state.
_ONE_AT_A_TIME = threading.Lock()
_LOADING = threading.Lock()  # calls that begin at once share one model
# What a stand-in says again and again: half an hour of speech.
_CACHE = SpeechCache(max_bytes=int(os.environ.get("SPEECH_CACHE_BYTES", 60 * 2**20)))


def shared_model() -> Any:
    """Return the process's model; the first call loads it (half a second)."""
    with _LOADING:
        return _model()


@lru_cache(maxsize=1)
def _model() -> Any:
    import json

    import onnxruntime
    from piper import PiperConfig, PiperVoice

    path = piper_voice()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # calls are held side by side
    session = onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    config = PiperConfig.from_dict(json.loads(path.with_name(f"{path.name}.json").read_text()))
    return PiperVoice(session=session, config=config)


@dataclass(frozen=True)
class Piper:
    """A voice of the shared model: ``joe`` or ``joe-high``."""

    name: str = "joe"

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        """Yield the speech of a text, from the cache where it was made before."""
        key = (text, self.name, RATE)
        speech = _CACHE.get(key)
        if speech is None:
            speech = await asyncio.to_thread(_synthesize, text, _PITCHES[self.name])
            _CACHE.put(key, speech)
        yield speech


def _synthesize(text: str, pitch: float) -> bytes:
    from piper import SynthesisConfig

    config = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0, length_scale=pitch)
    with _ONE_AT_A_TIME:
        model = shared_model()
        pieces = [chunk.audio_int16_array for chunk in model.synthesize(text, syn_config=config)]
    if not pieces:
        return b""
    resampled = soxr.resample(np.concatenate(pieces), model.config.sample_rate * pitch, RATE)
    speech: bytes = resampled.astype("<i2").tobytes()
    return speech
