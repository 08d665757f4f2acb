"""Files at URLs (``file``, ``s3``, ``http``, ``https``): fetched to disk through fsspec, no larger than allowed.

Credentials are those that the libraries find in their usual environment variables and files (``AWS_ACCESS_KEY_ID``, ``AWS_PROFILE``,
``NETRC``, …); none is taken from a URL, and no message shows one.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from cartograph.errors import InputError

SCHEMES = ("file", "s3", "http", "https")
ATTEMPTS = 3

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_URL_IN_TEXT = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>)]*")
_SECRET = re.compile(r"sig|signature|token|secret|passw|pwd|key|credential|auth|session", re.IGNORECASE)
_SECRET_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_VERSIONS = ("ETag", "Content-MD5", "Digest", "VersionId", "LastModified", "Last-Modified", "mtime")
_CHUNK = 1 << 20
_CONNECT_SECONDS, _READ_SECONDS = 15, 60
_LONGEST = 200

Result = TypeVar("Result")


@dataclass(frozen=True)
class Version:
    """Size and version of a file, as the server states them without sending it.

    Attributes:
        size: bytes; None where the server does not say.
        mark: changes whenever the content does; None where the server gives no such mark.
    """

    size: int | None
    mark: str | None


def is_remote(path: str) -> bool:
    """Return whether a source's path is a URL.

    >>> is_remote("s3://bucket/rows.csv"), is_remote("data/rows.csv"), is_remote("hub:imdb")
    (True, False, False)
    """
    return _URL.match(path) is not None


def file_name(url: str) -> str:
    """Return the name of the file at a URL, without characters that have a meaning in a file system.

    >>> file_name("https://example.org/a/rows%20of%202026.csv.gz?version=3")
    'rows_of_2026.csv.gz'
    """
    return re.sub(r"[^\w.-]", "_", unquote(_split(url).path).rstrip("/").rpartition("/")[2]).lstrip(".") or "file"


def shown(url: str) -> str:
    """Return a URL as messages show it: without user, password and query."""
    parts = _split(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise InputError(f"a URL that begins with {url.partition('://')[0]}:// cannot be understood ({error}); correct it.") from error


def check_url(url: str) -> None:
    """Check that a URL can be used, and has no secret in it.

    Raises:
        InputError: it has a scheme that is not read, a user or password, or a query that looks like a signature.
    """
    parts = _split(url)
    if parts.scheme.lower() not in SCHEMES:
        raise InputError(f"{shown(url)}: `{parts.scheme}` is not read; files are read from {', '.join(SCHEMES)}, or from a path on disk.")
    check_for_secrets(url)


def check_for_secrets(url: str, container: bool = False) -> None:
    """Check that a URL has no secret in it.

    Args:
        url: of any scheme.
        container: whether what stands before ``@`` is the name of a container, as in ``abfss://CONTAINER@ACCOUNT…``.

    Raises:
        InputError: it has a user or password, or a query that looks like a signature.
    """
    parts = _split(url)
    secret = next((name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if _SECRET.search(name)), None)
    if ("@" in parts.netloc and not (container and ":" not in parts.netloc.rpartition("@")[0])) or secret is not None:
        what = "a user or password" if secret is None else f"`{secret}`"
        raise InputError(
            f"{shown(url)} is given with {what}, and params.yaml is no place for credentials; leave them out, and set what the library "
            "looks for: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE for s3, a .netrc file (NETRC) for https."
        )


def look(url: str) -> Version:
    """Return what the server says of the file at a URL.

    Raises:
        InputError: it is not there, may not be read, or the server cannot be reached.
    """
    return _with_retries(url, lambda: _version(*_opened(url)))


def fetch(url: str, target: Path, *, max_bytes: int, progress: Callable[[int, int], None] | None = None) -> str:
    """Write the file at a URL to disk; return the SHA-256 of its bytes.

    Args:
        url: as ``check_url`` accepts it.
        target: the file to write.
        max_bytes: the most that is read; a server that says less than it sends is cut short.
        progress: called with (bytes so far, bytes in all, or 0 where the server does not say).

    Raises:
        InputError: it is not there, may not be read, is too large, or the server cannot be reached.
    """
    return _with_retries(url, lambda: _fetch(url, target, max_bytes, progress))


def _fetch(url: str, target: Path, max_bytes: int, progress: Callable[[int, int], None] | None) -> str:
    system, path = _opened(url)
    total = _version(system, path).size
    if total is not None and total > max_bytes:
        raise InputError(_too_large(url, f"has {_megabytes(total)}", max_bytes))
    digest, done = hashlib.sha256(), 0
    # Without blocks: one request, streamed.
    options = {"block_size": 0} if url.lower().startswith("http") else {}
    with system.open(path, "rb", **options) as source, target.open("wb") as file:
        while chunk := source.read(_CHUNK):
            done += len(chunk)
            if done > max_bytes:
                raise InputError(_too_large(url, "goes on", max_bytes))
            digest.update(chunk)
            file.write(chunk)
            if progress is not None:
                progress(done, total or 0)
    if total is not None and done < total:
        raise OSError(f"the connection ended after {_megabytes(done)} of {_megabytes(total)}")
    return digest.hexdigest()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _too_large(url: str, what: str, max_bytes: int) -> str:
    return f"{shown(url)} {what}, beyond the {_megabytes(max_bytes)} that `fetch.max_megabytes` allows; raise that, or name a smaller file."


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, without cached listings, and the file's path in it."""
    import fsspec

    scheme = url.partition("://")[0].lower()
    url = f"{scheme}://{url.partition('://')[2]}"
    options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
    if scheme in ("http", "https"):
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS)
        # Proxies and .netrc as the environment says.
        options |= {"client_kwargs": {"trust_env": True, "timeout": timeout}}
    elif scheme == "s3":
        options |= {"config_kwargs": {"connect_timeout": _CONNECT_SECONDS, "read_timeout": _READ_SECONDS, "retries": {"max_attempts": 2}}}
    system = fsspec.filesystem(scheme, **options)
    path = system._strip_protocol(url)
    # The path of a file URL may be percent-encoded or not.
    return system, unquote(path) if scheme == "file" and not system.exists(path) else path


def _version(system: Any, path: str) -> Version:
    info = system.info(path)
    if info.get("type") == "directory":
        raise IsADirectoryError(path)
    mark = next((f"{name} {info[name]}" for name in _VERSIONS if info.get(name)), None)
    size = info.get("size")
    return Version(None if size is None else int(size), mark)


def _with_retries(url: str, action: Callable[[], Result]) -> Result:
    """Return what an action returns, tried again where the network may have been at fault."""
    for left in reversed(range(ATTEMPTS)):
        try:
            with _in_sentences(url):
                return action()
        except _Unreachable as error:
            if not left:
                raise InputError(str(error)) from error.__cause__
            time.sleep(ATTEMPTS - left)
    raise AssertionError


class _Unreachable(Exception):
    """A failure that the next attempt may not have."""


@contextmanager
def _in_sentences(url: str) -> Iterator[None]:
    """Turn the libraries' exceptions into sentences without secrets."""
    name = shown(url)
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        raise InputError(f"{name} needs a library that is not installed ({error}); `pip install -c constraints.txt -e '.[s3]'`.") from error
    except IsADirectoryError as error:
        raise InputError(f"{name} is a folder; name a file.") from error
    except Exception as raised:
        # fsspec raises FileNotFoundError for every failure over http.
        cause = raised.__cause__ if isinstance(raised, FileNotFoundError) and isinstance(raised.__cause__, Exception) else raised
        status = getattr(cause, "status", None)
        if isinstance(cause, FileNotFoundError) or status in (404, 410):
            raise InputError(f"{name} does not exist; correct the URL.") from cause
        if isinstance(cause, PermissionError) or status in (401, 403) or "Credentials" in type(cause).__name__:
            raise InputError(
                f"{name} may not be read ({_reason(cause)}); set the credentials that the library looks for: AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY or AWS_PROFILE for s3, a .netrc file (NETRC) for https."
            ) from cause
        raise _Unreachable(f"{name} cannot be fetched ({_reason(cause)}); check the address and the network, and try again.") from cause


def _reason(error: BaseException) -> str:
    """Return an error's message on one line, without what the environment keeps secret."""
    text = " ".join(str(error).split()) or type(error).__name__
    # The address of a redirect may carry a signature.
    text = _URL_IN_TEXT.sub(lambda found: shown(found[0]), text)
    for secret in filter(None, map(os.environ.get, _SECRET_VARIABLES)):
        text = text.replace(secret, "…")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
