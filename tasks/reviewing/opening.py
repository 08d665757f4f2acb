"""Opening the review page: which questions a workspace has, the address, and the browser."""

from __future__ import annotations

import getpass
import secrets
import socket
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from cartograph.errors import InputError
from tasks.collection.parameters import SECTION as COLLECTION
from tasks.engine.workspace import Workspace
from tasks.presentation.console import say
from tasks.reviewing.questions import Questions, require_name

if TYPE_CHECKING:
    import pyarrow as pa


def open_review(
    space: Workspace,
    tables: Callable[[], tuple[pa.Table, pa.Table]],
    annotator: str,
    port: int,
    on_new: Callable[[], None],
    *,
    blind: bool,
    further: int,
) -> None:
    """Serve the review page until it is ended.

    Args:
        space: of an audit or a collection.
        tables: reads an audit's train set and suspects.
        annotator: who answers; empty: this machine's user, who is not asked about rows that others decided.
        port: to listen on; 0: any that is free.
        on_new: called when the file of decisions is new.
        blind: ask the rows of the blind sheet.
        further: how many rows below the list of suspects are asked about as well.

    Raises:
        InputError: there is nothing to ask yet, or the port is taken.
    """
    from tasks.reviewing.server import review_app, serve

    questions = _questions(space, tables, annotator, on_new, blind=blind, further=further)
    with socket.socket() as listening:
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", port))
            listening.listen(64)
        except OSError as error:
            raise InputError(f"port {port} of this machine cannot be listened on ({error.strerror}); name another with --port.") from error
        origin, token = f"http://127.0.0.1:{listening.getsockname()[1]}", secrets.token_urlsafe(24)
        app = review_app(questions, origin, token)
        address = f"{origin}/{token}/"
        say(f"The review page: {address}")
        say("Every answer is saved before the next question. Ctrl-C stops; the next start continues where you left off.")
        webbrowser.open(address)
        serve(app, listening)


def _questions(
    space: Workspace,
    tables: Callable[[], tuple[pa.Table, pa.Table]],
    annotator: str,
    on_new: Callable[[], None],
    *,
    blind: bool,
    further: int,
) -> Questions:
    name = require_name(annotator or _user())
    if COLLECTION in space.settings:
        from tasks.reviewing.pairs import PairQuestions

        require_no_list(space, blind=blind, further=further)
        return PairQuestions(space, name, alone=bool(annotator))
    if blind:
        from tasks.reviewing.blind import BlindQuestions

        return BlindQuestions(space, tables(), name)
    from tasks.reviewing.suspects import SuspectQuestions

    return SuspectQuestions(space, tables(), name, on_new, alone=bool(annotator), further=further)


def require_no_list(space: Workspace, *, blind: bool, further: int) -> None:
    """Check that nothing is asked of a collection that its pairs do not have.

    Raises:
        InputError: an option that goes with a list of suspects.
    """
    if blind:
        raise InputError(f"{space.path} is a collection, whose pairs are asked about without a label anyway; leave out --blind.")
    if further:
        raise InputError(f"{space.path} is a collection, which lists no suspects; leave out --further, a round asks about its own pairs.")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "reviewer"
