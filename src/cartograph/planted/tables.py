"""Built-in tables of features: three real ones that scikit-learn brings along, with planted label errors.

Breast cancer (Wolberg, Street and Mangasarian 1995: 569 tumours, 30 numbers each), wine (Aeberhard and Forina 1991: 178 wines of three
growers, 13 numbers) and the digits of ``planted.digits`` as a table of 64 grey levels.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph import schema
from cartograph.planted.corpus import SLIPS, PlantedCorpus, slips

MOST = {"breast-cancer": 500, "wine": 138, "digits-table": 1500}
"""Name of a table -> train rows at most; the others are the set ``validation``."""


def generate(name: str, rows: int, seed: int) -> PlantedCorpus:
    """Return a table in two sets, ``train`` and ``validation``; the same arguments give the same sets.

    Of the train rows a share of ``SLIPS`` is flipped, uniformly to another class. A uid is the row's place in scikit-learn's table.

    Args:
        name: of the table, in ``MOST``.
        rows: number of train rows, at most ``MOST[name]``.
        seed: of the split and the flips.

    Raises:
        ValueError: more train rows than there are.
    """
    from sklearn import datasets

    if rows > MOST[name]:
        raise ValueError(f"{name} has at most {MOST[name]:,} train rows, not {rows:,}")
    load = {"breast-cancer": datasets.load_breast_cancer, "wine": datasets.load_wine, "digits-table": datasets.load_digits}[name]
    bundle = load()
    rng = np.random.default_rng([seed, rows])
    labels = bundle.target.astype(np.int64)
    names = [str(label) for label in bundle.target_names]
    order = rng.permutation(len(labels))
    parts = {"train": order[:rows], "validation": order[MOST[name] :]}
    given, kinds = labels.copy(), np.array(["plain"] * len(labels), object)
    flipped = rng.choice(parts["train"], round(SLIPS * rows), replace=False)
    given[flipped] = (labels[flipped] + rng.integers(1, len(names), len(flipped))) % len(names)
    kinds[flipped] = "flipped"
    sets, truth = {}, []
    for part, places in parts.items():
        uids = [f"row-{place:04d}" for place in places.tolist()]
        columns = {str(title): [f"{value:g}" for value in bundle.data[places, at]] for at, title in enumerate(bundle.feature_names)}
        sets[part] = pa.table({schema.UID: uids, **columns, schema.LABEL: [names[label] for label in given[places]]})
        right = [names[label] for label in labels[places]]
        known = [uids, [part] * len(uids), kinds[places].tolist(), right, slips(kinds[places]), [False] * len(uids)]
        truth.append(pa.table(known, schema=schema.TRUTH))
    return PlantedCorpus(sets, pa.concat_tables(truth))
