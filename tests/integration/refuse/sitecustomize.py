"""Refuses and notes every attempt to reach anything but loopback, in this process and those it starts."""

import os
import pathlib
import sys

_EVENTS = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0", "::")


def _refuse(event, arguments):
    if event not in _EVENTS:
        return
    address = arguments[0] if event.startswith("socket.get") else arguments[1]
    host = address[0] if isinstance(address, tuple) else address
    if host is None or (isinstance(address, str | bytes) and not event.startswith("socket.get")):
        return
    host = host.decode() if isinstance(host, bytes) else str(host)
    if host and not host.startswith(_LOCAL) and host != os.uname().nodename:
        with pathlib.Path(os.environ["REFUSED"]).open("a") as file:
            file.write(f"{event} {address!r} by {' '.join(sys.argv)}\n")
        raise PermissionError(f"refused: {event} {address!r}")


if "REFUSED" in os.environ:
    sys.addaudithook(_refuse)
