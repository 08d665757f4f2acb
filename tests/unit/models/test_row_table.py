import numpy as np
import torch

from cartograph.models.row_table import RowTable

IDS = torch.tensor([4, 0, 4, 2, 1], dtype=torch.int32)
OFFSETS = torch.tensor([0, 2, 2, 5], dtype=torch.int32)
KEPT = torch.tensor([2.0, 0.0, 2.0, 2.0, 0.0])


def reading(table, seen):
    def read(places):
        rows = table.weight.detach()[torch.from_numpy(places)].requires_grad_()
        seen.append((places, rows))
        return rows

    return read


def test_rows_read_one_by_one_sum_as_the_table_does_and_take_its_gradient():
    table = RowTable(torch.randn(6, 3))
    plain = table.summed(IDS, OFFSETS, KEPT)
    plain.square().sum().backward()
    seen = []
    table.reader = reading(table, seen)
    read = table.train().summed(IDS, OFFSETS, KEPT)
    read.square().sum().backward()
    [(places, rows)] = seen
    assert torch.allclose(read, plain)
    assert torch.allclose(rows.grad, table.weight.grad[torch.from_numpy(places)])


def test_only_rows_that_are_not_dropped_are_read_each_once():
    table = RowTable(torch.randn(6, 3))
    seen = []
    table.reader = reading(table, seen)
    table.train().summed(IDS, OFFSETS, KEPT)
    table.summed(IDS, OFFSETS, None)
    assert [places.tolist() for places, _ in seen] == [[2, 4], [0, 1, 2, 4]]


def test_an_empty_bag_sums_to_nothing_and_inference_reads_the_table():
    table = RowTable(torch.randn(6, 3))
    table.reader = lambda places: 1 / 0
    found = table.eval().summed(IDS, OFFSETS, None).detach().numpy()
    np.testing.assert_allclose(found[1], 0.0)
    np.testing.assert_allclose(found[0], (table.weight[4] + table.weight[0]).detach().numpy(), rtol=1e-6)
