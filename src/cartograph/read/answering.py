"""The child's side of ``databases.ask_process``: one request from standard input, one answer on standard output, both JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

Request = dict[str, Any]
"""What is asked for; ``variable`` names the environment variable that holds the address, None without one."""


class Refused(Exception):
    """A sentence for the user."""


def answer_one(
    respond: Callable[[Request, str], dict[str, Any]],
    hide: Callable[[str, Request, str], str],
    *,
    done: str,
    needs: str,
    extra: Callable[[str], str],
) -> None:
    """Answer the request; whatever goes wrong is an answer too, under ``error``, as what follows the name of what was asked.

    Args:
        respond: gets the request and the address, and returns the answer; ``Refused`` has a sentence of its own.
        hide: takes what is secret out of a text; gets the text, the request and the address.
        done: what could not be done: "read", "written to".
        needs: what may not be installed: "a driver".
        extra: gets the address, and returns the project's extra that installs what is needed.
    """
    request = json.load(sys.stdin)
    address = os.environ.get(request["variable"] or "", "")
    try:
        answer = respond(request, address)
    except Refused as error:
        answer = {"error": hide(str(error), request, address)}
    except ImportError as error:
        answer = {"error": f"needs {needs} that is not installed ({error}); `pip install -c constraints.txt -e '.[{extra(address)}]'`"}
    except Exception as error:
        answer = {"error": f"cannot be {done}: {hide(str(error) or type(error).__name__, request, address)}"}
    print(json.dumps(answer))  # noqa: T201
