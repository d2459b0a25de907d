"""The party server of one side: ``python -m bots.party.server --side agent --port 8765``.

One process a side, many calls in its one loop, a fresh pipeline for each socket. Without ``--port`` a free one is
taken; the address is printed either way.
"""

import argparse
import asyncio
import logging
import os
import socket
import sys
from dataclasses import dataclass
from typing import Any

import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from loguru import logger
from pydantic import ValidationError

from bots.bridge.wire import MAX_SEND_BYTES, encode
from bots.party.pipeline import PartyCall
from bots.party.preparation import Endpoint, Preparation, Refused, read_key, read_preparation
from scenarios.sides import SIDES

FIRST_MESSAGE_S = 10.0


@dataclass
class Load:
    """What ``/health`` shows: calls held now, and since the start."""

    running: int = 0
    started: int = 0
    refused: int = 0


def build_app(side: str, own: Endpoint | None = None) -> FastAPI:
    """Return the application of one side; with its ``own`` model for calls of bridges that name none."""
    app = FastAPI(title=f"Callboard party server ({side})", docs_url=None, redoc_url=None, openapi_url=None)
    load = Load()

    @app.get("/health")
    async def health() -> dict[str, Any]:
        return {"side": side, "pid": os.getpid(), **vars(load)}

    @app.websocket("/")
    async def call(websocket: WebSocket) -> None:
        # A browser always names an origin: a web page must not reach the keys in this process's environment.
        if websocket.headers.get("origin"):
            await websocket.close(1008)
            return
        await websocket.accept()
        load.running += 1
        try:
            await _hold(websocket, load, own)
        finally:
            load.running -= 1

    return app


async def _hold(websocket: WebSocket, load: Load, own: Endpoint | None) -> None:
    try:
        async with asyncio.timeout(FIRST_MESSAGE_S):
            payload = await websocket.receive_bytes()
        preparation, request_id = read_preparation(payload, own)
        try:
            party = await _build(websocket, preparation)
        except Refused as refusal:
            raise Refused(refusal.kind, str(refusal), request_id) from refusal
    except Refused as refusal:
        load.refused += 1
        await _refuse(websocket, refusal)
        return
    except (TimeoutError, WebSocketDisconnect, KeyError):
        load.refused += 1
        return
    load.started += 1
    await websocket.send_bytes(encode("server-response", {"t": "prepare", "d": {"is_ready": True}}, request_id))
    with logger.contextualize(call=preparation.call):
        await party.run()


async def _build(websocket: WebSocket, preparation: Preparation) -> PartyCall:
    key = read_key(preparation.llm)
    if preparation.voice is None:
        return PartyCall(websocket, preparation, key)
    # Speech takes seconds to import and hundreds of megabytes, so only voice calls do.
    from bots.party.speech.choice import warm
    from bots.party.voice import VoiceCall

    vad = await warm(preparation.voice)
    return VoiceCall(websocket, preparation, key, vad)


async def _refuse(websocket: WebSocket, refusal: Refused) -> None:
    data = {"error": str(refusal), "kind": refusal.kind}
    await websocket.send_bytes(encode("error-response", data, refusal.request_id))
    await websocket.close(1008)


def main(arguments: list[str] | None = None) -> None:
    """Serve one side until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(description="Serve one side of calls.")
    parser.add_argument("--side", choices=SIDES, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", default="", help="serve this model, whatever the bridge names (for external use)")
    parser.add_argument("--base-url", default="", help="where it is served")
    parser.add_argument("--key-env", default="", help="name of the variable with its key")
    options = parser.parse_args(arguments)
    own = _own_model(parser, options)
    _configure_logging()
    listener = socket.create_server((options.host, options.port))
    # Accepted sockets inherit this; without it Nagle's algorithm holds small messages back for up to 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(f"party {options.side}: ws://{options.host}:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        build_app(options.side, own),
        access_log=False,
        log_level="warning",
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=MAX_SEND_BYTES,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _own_model(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Endpoint | None:
    """Return the model that the command line names, if any; ends the program where it cannot be used."""
    if not options.model:
        return None
    try:
        own = Endpoint(base_url=options.base_url, model=options.model, key_env=options.key_env)
        read_key(own)
    except ValidationError as error:
        parser.error("; ".join(f"--{str(e['loc'][0]).replace('_', '-')}: {e['msg']}" for e in error.errors()))
    except Refused as refusal:
        parser.error(str(refusal))
    return own


def _configure_logging() -> None:
    """Warnings and worse to stderr; the lines of pipecat carry the call they belong to."""
    logger.enable("pipecat")
    logger.remove()
    logger.configure(extra={"call": "-"})
    logger.add(sys.stderr, level="WARNING", format="{time:HH:mm:ss} {level} [{extra[call]}] {name}: {message}")
    logging.getLogger("httpx2").setLevel(logging.WARNING)


if __name__ == "__main__":
    main()
