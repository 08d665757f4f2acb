"""Hugging Face's events, without those of every step that nobody answers."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback
from transformers.trainer_callback import CallbackHandler


class AnsweredEvents(CallbackHandler):  # type: ignore[misc]
    """A handler that passes an event on to those callbacks that have a method of their own for it; the others would do nothing."""

    @classmethod
    def of(cls, handler: CallbackHandler) -> AnsweredEvents:
        """Return a handler of the same callbacks, in the same order."""
        return cls(handler.callbacks, handler.model, handler.processing_class, handler.optimizer, handler.lr_scheduler)

    def call_event(self, event: str, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        """Pass an event on where any callback answers it; return the control that the last of them returned, else ``control``."""
        silent = getattr(TrainerCallback, event)
        if all(getattr(type(callback), event) is silent for callback in self.callbacks):
            return control
        return super().call_event(event, args, state, control, **kwargs)
