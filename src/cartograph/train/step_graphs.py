"""Steps on a GPU as CUDA graphs: what a step computes is recorded once for each shape of a batch, then launched as a whole."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import torch

from cartograph.models.backward import Backward
from cartograph.train.half_weights import HalfWeights

_LOG = logging.getLogger(__name__)

_MASK = "attention_mask"

Inputs = Mapping[str, torch.Tensor]
Loss = Callable[[Inputs, HalfWeights | None], tuple[torch.Tensor, torch.Tensor]]
"""From a batch on the GPU, and what to read in place of the network, if anything, to the loss, a scalar, and the logits."""


@dataclass(frozen=True)
class Step:
    """A graph, with the tensors that it reads and writes: they hold a batch until the next one of its shape.

    Attributes:
        graph: forward and backward pass.
        inputs: what a batch is copied to before the graph runs.
        loss, logits: what it leaves.
        norm: of all gradients together.
    """

    graph: torch.cuda.CUDAGraph
    inputs: dict[str, torch.Tensor]
    loss: torch.Tensor
    logits: torch.Tensor
    norm: torch.Tensor


class StepGraphs:
    """Forward and backward passes of one network, each shape of a batch a CUDA graph.

    A step of a small batch is a thousand kernels of a few microseconds, and the processor needs longer to launch them one by one than
    the GPU to run them. A graph is launched in one call. It runs the same kernels on the same numbers as the step it was recorded
    from, dropout included, which goes on drawing from torch's generator of the GPU.

    With ``halves`` a pass reads those in place of the weights, whose gradients are then converted. A network that cannot be read so, as
    one with constants of float32 between products, is read as without, whatever was recorded before.

    A shape's first batch is read once beforehand, so that nothing is set up while recording; neither changes gradients or the
    generator. All graphs share their memory: one holds no more than the largest needs. Where a network cannot be recorded, because it
    waits for the GPU in the middle of its pass, that is noted, and ``run`` returns None from then on.

    Args:
        parameters: of the network; their gradients are written.
        loss: computes a batch.
        device: the GPU.
        halves: of these parameters; what ``loss`` reads.
    """

    def __init__(self, parameters: Sequence[torch.Tensor], loss: Loss, device: torch.device, halves: HalfWeights | None = None) -> None:
        self._loss, self._device = loss, device
        self._own: list[torch.Tensor] = list(parameters)
        self._begin(halves)
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()
        self.usable = True

    def _begin(self, halves: HalfWeights | None) -> None:
        self._halves = halves
        copies = {} if halves is None else {id(weight): copy for weight, copy in zip(halves.weights, halves.copies, strict=True)}
        # Whose gradients are wanted, and what a pass computes gradients of.
        self._parameters = [(parameter, copies.get(id(parameter), parameter)) for parameter in self._own if parameter.requires_grad]
        self._gradients: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        self._graphs: dict[tuple[object, ...], Step] = {}
        self._backward = Backward([leaf for _, leaf in self._parameters])

    def run(self, inputs: Inputs) -> Step | None:
        """Compute a batch that lies in the machine's memory.

        Every parameter that has a part in the loss has its gradient then, in place of what was there.

        Returns:
            What was computed; None where the network cannot be recorded.
        """
        if not self.usable:
            return None
        shape = tuple((name, *tensor.shape) for name, tensor in inputs.items())
        recorded = self._graphs.get(shape)
        if recorded is None:
            recorded = self._record({name: tensor.to(self._device) for name, tensor in inputs.items()})
            if recorded is None:
                return None
            self._graphs[shape] = recorded
        for name, tensor in inputs.items():
            recorded.inputs[name].copy_(tensor.pin_memory(), non_blocking=True)
        recorded.graph.replay()
        for parameter, _, gradient in self._gradients:
            parameter.grad = gradient
        return recorded

    def _record(self, inputs: dict[str, torch.Tensor]) -> Step | None:
        try:
            return self._recorded(inputs)
        except RuntimeError as error:
            # No memory is left for it, or the network waits for the GPU.
            reason, usable = str(error).splitlines()[0], self._halves is not None
        except Exception as error:
            if self._halves is None:
                raise
            reason, usable = f"{type(error).__name__}: {error}", True
        # Out of the block above, whose error keeps what the pass has left.
        self._forget_gradients()
        self._begin(None)
        torch.cuda.empty_cache()
        if usable:
            _LOG.info("steps are recorded without weights of bfloat16: %s", reason)
            return self._record(inputs)
        _LOG.info("steps are launched kernel by kernel: %s", reason)
        self.usable = False
        return None

    def _recorded(self, inputs: dict[str, torch.Tensor]) -> Step:
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self._stream), self._own_generator():
            self._read_once(inputs)
            torch.cuda.synchronize(self._device)
        with torch.cuda.stream(self._stream):
            loss, logits, norm = self._captured(graph, inputs)
        torch.cuda.current_stream(self._device).wait_stream(self._stream)
        return Step(graph, inputs, loss.detach(), logits.detach(), norm)

    def _captured(self, graph: torch.cuda.CUDAGraph, inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Record a batch; if that fails, put the generator back: it would go on counting what is drawn as the graph's."""
        spare = self._generator.clone_state()
        try:
            graph.capture_begin(pool=self._pool)
            loss, logits = self._passed(inputs)
            found = [leaf.grad for _, leaf, _ in self._gradients if leaf.grad is not None]
            torch._foreach_copy_([kept for _, _, kept in self._gradients], found)
            norm = norm_of([kept for _, _, kept in self._gradients])
            del found
            self._forget_gradients()
            graph.capture_end()
        except Exception:
            with suppress(RuntimeError):
                graph.capture_end()
            self._generator.graphsafe_set_state(spare)
            raise
        return loss, logits, norm

    @contextmanager
    def _own_generator(self) -> Iterator[None]:
        """Have the GPU's generator draw what it draws within once more afterwards."""
        state = self._generator.graphsafe_get_state()
        self._generator.graphsafe_set_state(state.clone_state())
        try:
            yield
        finally:
            self._generator.graphsafe_set_state(state)

    @property
    def _generator(self) -> torch.Generator:
        return torch.cuda.default_generators[self._device.index or 0]

    def _read_once(self, inputs: dict[str, torch.Tensor]) -> None:
        read = dict(inputs)
        if _MASK in read:
            # Networks read batches without padding another way; a graph reads all as if there were some.
            read[_MASK] = read[_MASK].clone()
            read[_MASK][0, -1] = 0
        self._forget_gradients()
        self._passed(read)
        if not self._gradients:
            having = [(parameter, leaf) for parameter, leaf in self._parameters if leaf.grad is not None]
            self._gradients = [(parameter, leaf, torch.zeros_like(parameter)) for parameter, leaf in having]
        self._forget_gradients()

    def _passed(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        if self._halves is not None:
            self._halves.refresh()
        loss, logits = self._loss(inputs, self._halves)
        self._backward(loss)
        return loss, logits

    def _forget_gradients(self) -> None:
        for parameter, leaf in self._parameters:
            parameter.grad = leaf.grad = None


def norm_of(gradients: list[torch.Tensor]) -> torch.Tensor:
    """Return the norm of tensors on one device, all their numbers taken together, as a scalar there."""
    norm: torch.Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    return norm
