"""The processes that record one training together."""

from __future__ import annotations


class Processes:
    """The processes that train together, as ``torch.distributed`` knows them; one where it is not initialised."""

    def __init__(self) -> None:
        import torch.distributed as distributed

        together = distributed.is_available() and distributed.is_initialized()
        self.rank = distributed.get_rank() if together else 0
        self.size = distributed.get_world_size() if together else 1

    def agree(self, well: bool) -> bool:
        """Wait for every process; return whether all of them are well."""
        if self.size == 1:
            return well
        import torch
        import torch.distributed as distributed

        device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
        verdict = torch.tensor(int(well), device=device)
        distributed.all_reduce(verdict, op=distributed.ReduceOp.MIN)
        return bool(verdict.item())
