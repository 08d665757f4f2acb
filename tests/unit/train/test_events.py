"""Events of the Trainer that nobody answers."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import TrainerCallback, TrainerControl
from transformers.trainer_callback import CallbackHandler, DefaultFlowCallback

from cartograph.train.events import AnsweredEvents


class Heard(TrainerCallback):
    """Answers two events."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.events.append(("step_end", args, state, kwargs["model"]))

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> TrainerControl:
        self.events.append(("log", kwargs["logs"]))
        return TrainerControl(should_save=True)


def test_an_event_that_nobody_answers_reaches_no_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = AnsweredEvents.of(CallbackHandler([DefaultFlowCallback, Heard()], "model", None, None, None))
    called = []
    plain = CallbackHandler.call_event
    monkeypatch.setattr(CallbackHandler, "call_event", lambda *given, **rest: called.append(given[1]) or plain(*given, **rest))
    control = TrainerControl()
    assert handler.on_optimizer_step("arguments", "state", control) is control
    assert handler.on_log("arguments", "state", control, logs={"loss": 1.0}).should_save
    assert called == ["on_log"]
    assert handler.callbacks[1].events == [("log", {"loss": 1.0})]


def test_an_event_that_is_answered_reaches_all_with_what_the_handler_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DefaultFlowCallback, "on_step_end", lambda *_, **__: TrainerControl(should_log=True))
    heard = Heard()
    handler = AnsweredEvents.of(CallbackHandler([DefaultFlowCallback, heard], "model", None, None, None))
    assert handler.on_step_end("arguments", "state", TrainerControl()).should_log
    assert heard.events == [("step_end", "arguments", "state", "model")]
    handler.add_callback(type("Late", (TrainerCallback,), {"on_optimizer_step": lambda *_, **__: TrainerControl(should_save=True)})())
    assert handler.on_optimizer_step("arguments", "state", TrainerControl()).should_save
