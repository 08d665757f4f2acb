from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.data.components import components


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 12), st.data())
def test_components_are_the_nodes_that_can_be_reached(nodes: int, data: st.DataObject) -> None:
    edges = data.draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=15))
    reached = np.eye(nodes, dtype=bool)
    for one, other in edges:
        reached[one, other] = reached[other, one] = True
    for through in range(nodes):
        reached |= reached[:, [through]] & reached[[through], :]
    found = components(np.array([edge[0] for edge in edges], int), np.array([edge[1] for edge in edges], int), nodes)
    assert ((found[:, None] == found[None, :]) == reached).all()
    first = [found.tolist().index(number) for number in range(found.max() + 1)]
    assert first == sorted(first)
