"""A small chat-completions endpoint whose answers, faults included, are scripted one by one."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One HTTP answer: a completion with ``text``, or ``status`` and ``body`` as they are."""

    text: str = ""
    status: int = 200
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    delay_s: float = 0
    cut: bool = False  # half of the announced bytes, then the connection closes

    def bytes(self) -> bytes:
        if self.body is not None:
            return self.body.encode()
        message = {"role": "assistant", "content": self.text}
        completion = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": self.finish_reason, "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        return json.dumps(completion).encode()


@dataclass
class Endpoint:
    """A running endpoint: ``requests`` are the bodies it got, ``keys`` the Authorization headers."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    # Answers by what was asked, in place of the scripted answers.
    by: Callable[[dict[str, Any]], Answer] | None = None

    def next(self) -> Answer:
        """Return the next answer; the last one is repeated."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(*answers: Answer) -> Iterator[Endpoint]:
    """Serve the scripted answers on a free port."""
    endpoint = Endpoint(answers=list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            endpoint.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            endpoint.keys.append(self.headers["Authorization"])
            answer = endpoint.by(endpoint.requests[-1]) if endpoint.by else endpoint.next()
            time.sleep(answer.delay_s)
            content = answer.bytes()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if answer.cut else content)
            self.close_connection = self.close_connection or answer.cut

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
