"""What a party said, without what a model's template leaks into it."""

import re

# A reasoning passage goes with its frame (gpt-oss: channels; Qwen, DeepSeek: think); other tokens go alone.
_PASSAGES = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)\b.*?(?:<\|end\|>|$)|<think>.*?</think>", re.DOTALL)
_HEADERS = re.compile(
    r"<\|(?:im_)?start\|>\s*(?:assistant|user|system)?\s*|<\|channel\|>\s*final\b|<\|start_header_id\|>.*?<\|end_header_id\|>"
)
_TOKENS = re.compile(
    r"<\|[^|<>\n]{1,60}\|>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>|\[/?INST\]|"
    # Words by which simulated callers of other harnesses hang up; here the agent still gets the turn.
    r"###(?:STOP|TRANSFER|OUT-OF-SCOPE)###|<stop>"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def clean(text: str) -> tuple[str, str | None]:
    """Return what was said, and the raw text when more than outer white space was taken out."""
    plain = text.replace("\r\n", "\n")
    said = plain
    for leak in (_PASSAGES, _HEADERS, _TOKENS, _CONTROLS):
        said = leak.sub("", said)
    return said.strip(), None if said == plain else text
