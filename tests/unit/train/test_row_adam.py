import numpy as np
import torch

from cartograph.models.row_table import RowTable
from cartograph.train.row_adam import RowAdamW

ROWS, WIDTH, STEPS = 12, 4, 700


def batches():
    """Bags of features of which some come in every step, some every few hundred, and one never."""
    rng = np.random.default_rng(3)
    for step in range(STEPS):
        ids = [*rng.integers(0, 6, 5), 6 + step // 300 if step % 300 == 0 else 0, *([9] if step % 7 == 0 else []), 10 if step < 3 else 1]
        yield torch.tensor(ids, dtype=torch.int32), torch.tensor([0, 3, 3, len(ids)], dtype=torch.int32)


def parts(seed=1):
    torch.manual_seed(seed)
    return RowTable(torch.randn(ROWS, WIDTH)), torch.nn.Linear(WIDTH, 2)


def loss_of(table, head, ids, offsets, step):
    kept = torch.ones(len(ids))
    kept[step % len(ids)] = 0.0
    target = torch.tensor([[1.0, -1.0], [0.2, 0.1], [-3.0, 2.0]])
    return ((head(table.summed(ids, offsets, kept)) - target) ** 2).mean() * 4


def train(table, head, optimizer, schedule, *, first=0, clip=None):
    table.train()
    for step, (ids, offsets) in enumerate(batches()):
        if step < first:
            continue
        loss_of(table, head, ids, offsets, step).backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_([*table.parameters(), *head.parameters()], clip)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        table.zero_grad()


def falling(optimizer):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / STEPS)


def test_it_takes_the_steps_of_adam_over_the_whole_table():
    table, head = parts()
    plain = torch.optim.AdamW([*table.parameters(), *head.parameters()], lr=0.02, weight_decay=0.0)
    train(table, head, plain, falling(plain), clip=1.0)
    rows, other_head = parts()
    start = rows.weight.detach().clone()
    lazy = RowAdamW(other_head.parameters(), [rows], lr=0.02, most=1.0)
    train(rows, other_head, lazy, falling(lazy))
    lazy.settle()
    assert torch.allclose(rows.weight, table.weight, atol=2e-4)
    assert torch.allclose(other_head.weight, head.weight, atol=2e-4)
    moved = (rows.weight - start).abs().max(dim=1).values > 0.02
    # The eighth comes once, and is dropped then; the eleventh never comes.
    assert moved.tolist() == [row not in (8, 11) for row in range(ROWS)]


def test_a_batch_in_two_parts_is_the_batch():
    whole, head = parts()
    optimizer = RowAdamW(head.parameters(), [whole], lr=0.02, most=1e9)
    ids, offsets = torch.tensor([1, 2, 2, 5], dtype=torch.int32), torch.tensor([0, 2, 4], dtype=torch.int32)
    head(whole.summed(ids, offsets, None)).sum().backward()
    optimizer.step()
    halves, other = parts()
    second = RowAdamW(other.parameters(), [halves], lr=0.02, most=1e9)
    for part in (ids[:2], ids[2:]):
        other(halves.summed(part, torch.tensor([0, 2], dtype=torch.int32), None)).sum().backward()
    second.step()
    assert torch.equal(whole.weight, halves.weight)


def test_a_state_that_was_kept_goes_on_to_the_same_bytes():
    at = 350
    table, head = parts()
    optimizer = RowAdamW(head.parameters(), [table], lr=0.02)
    schedule = falling(optimizer)
    table.train()
    for step, (ids, offsets) in enumerate(batches()):
        if step == at:
            optimizer.settle()
            kept = [part.state_dict() for part in (table, head, optimizer, schedule)]
            kept = torch.load(_written(kept), weights_only=True)
        loss_of(table, head, ids, offsets, step).backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    optimizer.settle()
    again, other = parts(seed=2)
    resumed = RowAdamW(other.parameters(), [again], lr=0.02)
    later = falling(resumed)
    for part, content in zip((again, other, resumed, later), kept, strict=True):
        part.load_state_dict(content)
    train(again, other, resumed, later, first=at)
    resumed.settle()
    assert torch.equal(again.weight, table.weight)
    assert torch.equal(other.weight, head.weight)


def _written(content):
    import io

    file = io.BytesIO()
    torch.save(content, file)
    file.seek(0)
    return file
