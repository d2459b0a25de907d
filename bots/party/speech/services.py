"""The pipecat services around an engine: recognition by segments, synthesis by sentences."""

from collections.abc import AsyncGenerator, Awaitable, Callable

from pipecat.frames.frames import Frame, TranscriptionFrame, TTSAudioRawFrame
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import SegmentedSTTService
from pipecat.services.tts_service import TTSService
from pipecat.utils.time import time_now_iso8601

from bots.party.patience import patiently
from bots.party.speech import RATE
from bots.party.speech.engines import Hearing, SpeechFailed, Voice

# Called with what went wrong; the call is lost then.
OnFailure = Callable[[SpeechFailed], Awaitable[None]]
# Called now and then while recognition or synthesis takes its time.
OnWorking = Callable[[], Awaitable[object]]
# On a starved machine synthesis takes longer than pipecat's 3 s, which it takes for a voice without sound.
SLOWEST_SYNTHESIS_S = 30.0
# How long recognition may take before a turn is closed without its text.
SLOWEST_RECOGNITION_S = 2.0


class EngineSTT(SegmentedSTTService):
    """Recognises each stretch of speech that the voice detection found."""

    def __init__(self, hearing: Hearing, on_failure: OnFailure, on_working: OnWorking) -> None:
        self._hearing = hearing
        self._on_failure = on_failure
        self._on_working = on_working
        settings = STTSettings(model=None, language=None)
        super().__init__(sample_rate=RATE, ttfs_p99_latency=SLOWEST_RECOGNITION_S, settings=settings)

    @property
    def wants_wav_segments(self) -> bool:
        """Take plain samples."""
        return False

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Yield the transcription of a stretch of speech, nothing when there are no words in it."""
        try:
            text = await patiently(self._hearing.transcribe(audio), self._on_working)
        except SpeechFailed as failure:
            await self._on_failure(failure)
            return
        if text:
            yield TranscriptionFrame(text, self._user_id, time_now_iso8601())


class EngineTTS(TTSService):
    """Speaks sentence by sentence."""

    def __init__(self, voice: Voice, on_failure: OnFailure, on_working: OnWorking) -> None:
        self._voice = voice
        self._on_failure = on_failure
        self._on_working = on_working
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            stop_frame_timeout_s=SLOWEST_SYNTHESIS_S,
            max_consecutive_zero_audio_contexts=0,
            sample_rate=RATE,
            settings=TTSSettings(model=None, voice=None, language=None),
        )

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Yield the speech of a sentence."""
        try:
            pieces = aiter(self._voice.speak(text))
            while (piece := await patiently(anext(pieces, None), self._on_working)) is not None:
                if piece:
                    yield TTSAudioRawFrame(piece, RATE, 1, context_id=context_id)
        except SpeechFailed as failure:
            await self._on_failure(failure)
