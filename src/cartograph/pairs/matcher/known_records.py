"""A trained matcher with the records that it knows, as a folder of data: probabilities of any pairs, among those records' rivals."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from cartograph.pairs.matcher.blocked import block
from cartograph.pairs.matcher.features import Features
from cartograph.pairs.matcher.model import Matcher, probability
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.models.learner import UtteranceVectors
from cartograph.pairs.pair_space import PairSpace

_CONFIG = "pairs.json"
_SIDES = ("left", "right")
_LEARNT_NEIGHBOURS = 20

Row = tuple[str, ...]


@dataclass(frozen=True)
class KnownRecords:
    """A matcher, and the records among which it compares a pair: how rare a term is and which rivals a record has come from them.

    Attributes:
        folder: where the matcher is.
        records: of both sides.
        neighbours: candidates of each left record by each kind of similarity.
        pretrained: the encoder's folder or hub id, where the matcher was trained with one.
    """

    folder: Path
    records: Records
    neighbours: int
    pretrained: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table of pairs: ``left_NAME`` and ``right_NAME`` of each field, or ``left`` and ``right`` of records of one text."""
        names = self.records.fields
        return tuple(f"{side}_{name}" for side in _SIDES for name in names) if names else _SIDES

    def probabilities(self, pairs: Mapping[str, Sequence[str | None]]) -> Floats:
        """Return (n_pairs,) probabilities of being a match, in [0, 1].

        Records of the pairs that are not known yet are compared as if they were: they are rivals too, and their words count. A pair
        that blocking does not propose has 0, a record with itself 1.

        Args:
            pairs: ``columns`` -> (n_pairs,) values; None is an empty one.

        Raises:
            InputError: a column is missing, or the encoder is not there.
        """
        lacking = [name for name in self.columns if name not in pairs]
        if lacking:
            raise InputError(f"pairs lack the column `{lacking[0]}`; the matcher reads {', '.join(self.columns)}.")
        half = len(self.columns) // 2
        asked = [
            list(zip(*([(value or "").strip() for value in pairs[name]] for name in names), strict=True)) for names in self._split(half)
        ]
        if not asked[0]:
            return np.empty(0)
        records, left, right = self._with(asked[0], asked[1])
        found = np.ones(len(left))
        different = (left != right) if records.symmetric else np.ones(len(left), bool)
        found[different] = self._scored(records, left[different], right[different])
        return found

    def _split(self, half: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.columns[:half], self.columns[half:]

    def _with(self, left: Sequence[Row], right: Sequence[Row]) -> tuple[Records, Integers, Integers]:
        """Return the known records and those of the pairs, each once, and the pairs' rows."""
        known = self.records
        rows = [_rows_of(known, side) for side in (0, 1)[: 1 if known.symmetric else 2]]
        places: list[list[int]] = []
        for own, asked in zip((rows[0], rows[-1]), (left, right), strict=True):
            place = {row: number for number, row in reversed(list(enumerate(own)))}
            for row in asked:
                if row not in place:
                    place[row] = len(own)
                    own.append(row)
            places.append([place[row] for row in asked])
        texts = [[" ".join(filter(None, row)) for row in side] for side in rows]
        fields = {name: ([row[at] for row in rows[0]], [row[at] for row in rows[-1]]) for at, name in enumerate(known.fields)}
        return Records(texts[0], texts[-1], fields), np.array(places[0], np.int64), np.array(places[1], np.int64)

    def _scored(self, records: Records, left: Integers, right: Integers) -> Floats:
        matcher, learnt = load_matcher(self.folder, records)
        encoder = self._encoded(records)
        features = Features(records, None if encoder is None else {"encoder": (encoder.left, encoder.right)})
        rows = np.arange(len(records.left), dtype=np.int64)
        space = PairSpace(
            rows, rows if records.symmetric else np.arange(len(records.right), dtype=np.int64), len(records.right), records.symmetric
        )
        blocked = block(space, len(records.left), features, self.neighbours)
        if learnt is not None:
            blocked = blocked.with_vectors(learnt, _LEARNT_NEIGHBOURS, features)
        keys = space.keys(left, right)
        blocked = blocked.with_pairs(keys, features)
        return probability(matcher.score(blocked)[blocked.places(keys)])

    def _encoded(self, records: Records) -> UtteranceVectors | None:
        if self.pretrained is None:
            return None
        from cartograph.pairs.models.untrained import untrained_encoder_vectors

        return untrained_encoder_vectors(self.pretrained, records.left, records.right, "auto")

    def save(self, folder: Path) -> None:
        """Write all of it into an existing empty folder: JSON, arrays without pickle, Parquet, safetensors."""
        import pyarrow as pa

        from cartograph.data.parquet import write_parquet

        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        names = list(self.records.fields)
        config = {"symmetric": self.records.symmetric, "fields": names, "neighbours": self.neighbours, "pretrained": self.pretrained}
        write_json(folder / _CONFIG, config)
        for at, side in enumerate(_SIDES[: 1 if self.records.symmetric else 2]):
            columns = [pa.array(values, pa.string()) for values in zip(*_rows_of(self.records, at), strict=True)]
            write_parquet(pa.table(columns, names=[str(number) for number in range(len(columns))]), folder / f"{side}.parquet")

    @classmethod
    def load(cls, folder: Path) -> KnownRecords:
        """Return what ``save`` wrote."""
        import pyarrow.parquet as pq

        config = read_json(folder / _CONFIG)
        sides = [pq.read_table(folder / f"{side}.parquet") for side in _SIDES[: 1 if config["symmetric"] else 2]]
        values = [[column.to_pylist() for column in side.columns] for side in sides]
        texts = [[" ".join(filter(None, row)) for row in zip(*side, strict=True)] for side in values]
        fields = {name: (values[0][at], values[-1][at]) for at, name in enumerate(config["fields"])}
        return cls(folder, Records(texts[0], texts[-1], fields), config["neighbours"], config["pretrained"])


def _rows_of(records: Records, side: int) -> list[Row]:
    """Return the values of each record of a side: its fields, or its text alone."""
    if records.fields:
        return list(zip(*(values[side] for values in records.fields.values()), strict=True))
    return [(text,) for text in (records.right if side else records.left)]


def load_matcher(folder: Path, records: Records) -> tuple[Matcher, UtteranceVectors | None]:
    """Return the matcher of a folder, and the records' vectors where it learnt some."""
    matcher = Matcher.load(folder)
    if not matcher.learnt:
        return matcher, None
    from cartograph.pairs.models.bow import CosineBow

    embedder = CosineBow.load(folder)
    left = embedder.vectors(embedder.encode(records.left))
    return matcher, UtteranceVectors(left, left if records.symmetric else embedder.vectors(embedder.encode(records.right)))
