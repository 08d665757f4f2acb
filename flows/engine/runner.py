"""Where the steps of a flow are computed: what every runner has, and the simplest one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Self, TypeVar

from cartograph.config import Settings
from cartograph.data.spread import Spread, in_turn
from cartograph.errors import CartographError
from tasks.engine.running import Outcome, run_step
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace

VISIBLE = "CUDA_VISIBLE_DEVICES"

Result = TypeVar("Result")
StepsOf = Callable[[Settings], Sequence[Step]]
"""Settings -> the steps that an audit or a collection with these settings has."""


class LostProcessError(Exception):
    """The process that computed a step is gone; the step can be run again from its last checkpoint."""


class Runner(ABC):
    """Where steps are computed, between entering and leaving it.

    Attributes:
        at_once: how many steps that may use an accelerator are computed at the same time.
        spread: where a step that is computed there has its independent pieces computed; other processes can import it.
    """

    at_once: int = 1
    spread: Spread = staticmethod(in_turn)

    def slots(self) -> int:
        """Return how many of them are computed at the same time from now on."""
        return self.at_once

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027 (a runner that started nothing has nothing to end)
        """End what was started."""

    @abstractmethod
    def run(self, work: Callable[[], Result], *, alone: bool = False) -> Result:
        """Compute something and return it.

        Args:
            work: what to compute; a function that another process can import, with arguments that can be pickled.
            alone: without anything else at the same time, where that can save it from being lost.

        Raises:
            LostProcessError: the process that computed it is gone.
        """


class OwnProcess(Runner):
    """The flow's own process."""

    def run(self, work: Callable[[], Result], *, alone: bool = False) -> Result:
        """Compute it in the thread that asks."""
        return work()


def run_named(steps_of: StepsOf, name: str, workspace: Workspace, *, force: bool, spread: Spread) -> Outcome:
    """Run the step of that name: a name can be sent to another process, a step's functions cannot always."""
    return next(run_step(step, workspace, force=force, spread=spread) for step in steps_of(workspace.settings) if step.name == name)


def compute(work: Callable[[], Result]) -> Result:
    """Compute something in a worker process; an error that is not meant for the user comes back as one that any process can read."""
    try:
        return work()
    except CartographError:
        raise
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from None
