import pytest

from cartograph.models.registry import batch_for


@pytest.mark.parametrize(
    ("model", "rows", "batch"),
    [("bow", 0, 64), ("bow", 127_999, 64), ("bow", 128_000, 128), ("bow", 256_000, 256), ("bow", 9_000_000, 256), ("tiny", 256_000, 64)],
)
def test_batches_grow_with_the_rows_for_models_that_lose_nothing_by_it(model, rows, batch):
    assert batch_for(model, rows) == batch
