"""The review page's server: on this machine alone, at an address that cannot be guessed, deaf to other pages."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from cartograph.errors import CartographError
from cartograph.page.review import review_page
from tasks.reviewing.questions import ChangedError, Questions

if TYPE_CHECKING:
    import socket

MOST_BYTES = 20_000
"""Of a request's body; an answer takes a hundred."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Given(BaseModel):
    """An answer as the page sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    place: int = Field(ge=0)
    answer: str = Field(max_length=5000)
    before: str = Field(max_length=10_000)
    settles: bool = False


def review_app(questions: Questions, origin: str, token: str) -> FastAPI:
    """Return the application that asks questions.

    Everything is below ``/TOKEN/``; a request is refused unless it names this very host, and one that comes from another page or writes
    unless its origin is this very page.

    Args:
        questions: what is asked.
        origin: scheme, host and port, such as ``http://127.0.0.1:8000``.
        token: of the address.
    """
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    document, policy = review_page(questions.overview()["name"])

    @app.middleware("http")
    async def guarded(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        response = _refusal(request, origin, token) or await answer(request)
        response.headers.update(_HEADERS | {"Content-Security-Policy": policy})
        return response

    @app.exception_handler(CartographError)
    def sentence(_: Request, error: CartographError) -> Response:
        if isinstance(error, ChangedError):
            return JSONResponse({"error": str(error), "now": error.now}, HTTPStatus.CONFLICT)
        return JSONResponse({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)

    @app.exception_handler(IndexError)
    def unknown(_: Request, error: IndexError) -> Response:
        return JSONResponse({"error": f"there is no question {error}"}, HTTPStatus.NOT_FOUND)

    @app.exception_handler(OSError)
    def unwritten(_: Request, error: OSError) -> Response:
        return JSONResponse({"error": f"not saved: {error}"}, HTTPStatus.INSUFFICIENT_STORAGE)

    @app.get(f"/{token}/")
    def page() -> HTMLResponse:
        return HTMLResponse(document)

    @app.get(f"/{token}/overview")
    def overview() -> dict[str, Any]:
        return questions.overview()

    @app.get(f"/{token}/question/{{place}}")
    def question(place: int) -> dict[str, Any]:
        return questions.question(place)

    @app.get(f"/{token}/context/{{place}}")
    def context(place: int) -> dict[str, Any]:
        return questions.context(place)

    @app.get(f"/{token}/agreement")
    def agreement() -> dict[str, Any]:
        return questions.agreement()

    @app.post(f"/{token}/answer")
    def answer(given: Given) -> dict[str, Any]:
        return questions.answer(given.place, given.answer, given.before, settles=given.settles)

    return app


def _refusal(request: Request, origin: str, token: str) -> Response | None:
    """Return the answer to a request that does not come from the page; None for one that does."""
    headers = request.headers
    if headers.get("host") != origin.partition("://")[2]:
        return Response("not this host", HTTPStatus.MISDIRECTED_REQUEST)
    if not secrets.compare_digest(request.url.path.split("/")[1].encode(), token.encode()):
        return Response("nothing is here", HTTPStatus.NOT_FOUND)
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") or headers.get("origin", origin) != origin:
        return Response("another page asks", HTTPStatus.FORBIDDEN)
    if request.method in ("GET", "HEAD"):
        return None
    if "origin" not in headers or headers.get("content-type") != "application/json":
        return Response("this is not the review page", HTTPStatus.FORBIDDEN)
    size = headers.get("content-length", "")
    if not size.isdecimal() or int(size) > MOST_BYTES:
        return Response("too long", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return None


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Answer requests until somebody presses Ctrl-C or ends the process.

    Args:
        app: from ``review_app``.
        listening: bound to a loopback address.
    """
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, lifespan="off", server_header=False))
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        return
