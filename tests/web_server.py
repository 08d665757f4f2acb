"""A web server of one file, for the tests of what is read from URLs."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ROWS = "text,label\n" + "".join(f"row {number},{'yes' if number % 2 else 'no'}\n" for number in range(40))


class Server(ThreadingHTTPServer):
    """A web server that notes what it is asked, and sends ``content`` under a mark that goes with it."""

    content = ROWS.encode()
    says_size = True
    says_mark = True
    user = ""
    broken = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/a/rows.csv"

    @property
    def sent(self) -> int:
        return self.asked.count("GET")


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        if self.answer():
            self.wfile.write(self.server.content)

    def answer(self) -> bool:
        server = self.server
        server.asked.append(self.command)
        known = base64.b64encode(server.user.encode()).decode()
        status = 200
        if self.path == "/signed":
            self.send_response(302)
            self.send_header("Location", f"{server.url}.gone?X-Amz-Signature=s3cret")
            self.end_headers()
            return False
        if self.path == "/a/rows.csv.gone?X-Amz-Signature=s3cret":
            self.send_response(403)
            self.end_headers()
            return False
        if self.path != "/a/rows.csv":
            status = 404
        elif server.user and self.headers.get("Authorization") != f"Basic {known}":
            status = 401
        elif server.broken:
            server.broken -= 1
            status = 503
        self.send_response(status)
        if status == 200 and server.says_size:
            self.send_header("Content-Length", str(len(server.content)))
        if status == 200 and server.says_mark:
            self.send_header("ETag", hashlib.md5(server.content).hexdigest())
        self.end_headers()
        return status == 200

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def running_server() -> Iterator[Server]:
    """Answer requests on loopback until the block ends."""
    with Server() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
