"""The command `match`: scores pairs of records with a collection's trained matcher, and writes the ones that match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.audit.pretrained_folder import local_folder
from tasks.collection.encode import DATA as ENCODED
from tasks.collection.encode import PAIRS, starting_vectors
from tasks.collection.matcher_start import DEV_SCORES, best_round
from tasks.collection.pairs import Pairs, partly_stated
from tasks.collection.parameters import MATCHER, SECTION, Collect, Encode, folder_of
from tasks.commands.given_files import told_encoding
from tasks.pipelines import open_workspace
from tasks.presentation.console import progress, say

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.pairs.matcher.matching import Matches, Threshold
    from cartograph.pairs.matcher.records import Records
    from cartograph.pairs.models.learner import UtteranceVectors
    from tasks.engine.workspace import Workspace

MATCHES = "reports/matches.csv"
_ROUND = "scores.json"
_THRESHOLD = 0.5
_LEAST_PROBABLE = 0.05
"""Of pairs among which as many are taken as keep the share that should be right, by their probabilities."""
_TOLD = (".csv", ".tsv", ".jsonl", ".parquet")
# Names that tell the format by themselves.


@dataclass(frozen=True)
class _Sides:
    """The records of both sides, what each is called, and whether that is something else than its text."""

    records: Records
    left_ids: Sequence[str]
    right_ids: Sequence[str]
    named: bool
    encoder: UtteranceVectors | None = None


def match(
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of the collection.")],
    left: Annotated[str, typer.Option(help="Table of left records; by default the collection's own records are matched.")] = "",
    right: Annotated[str, typer.Option(help="Table of right records; by default the left ones are matched among themselves.")] = "",
    id: Annotated[
        str, typer.Option("--id", help="Column that names a record: by default as in the collection's tables; row numbers without it.")
    ] = "",
    out: Annotated[str, typer.Option(help=f"Where to write: .csv or .parquet; {MATCHES} by default.")] = "",
    precision: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of the matches that should be right, measured on the dev split or else by probabilities.",
        ),
    ] = 0.0,
    threshold: Annotated[float, typer.Option(min=0.0, max=1.0, help="Smallest probability of a match.")] = _THRESHOLD,
    one_to_one: Annotated[bool, typer.Option("--one-to-one", help="Each record has one partner at most: the likeliest.")] = False,
    clusters: Annotated[bool, typer.Option("--clusters", help="Number the groups that matches connect.")] = False,
) -> None:
    """Write which records match, with a probability and how alike each field is."""
    import numpy as np
    from scipy.special import logit

    from cartograph.pairs.matcher.known_records import load_matcher
    from cartograph.pairs.matcher.matching import Threshold, match_records
    from cartograph.pairs.matcher.matching import one_to_one as unique

    space = open_workspace(workspace)
    encode = _checked(space)
    if right and not left:
        raise InputError("--right needs --left: the table that it is matched with.")
    if precision and threshold != _THRESHOLD:
        raise InputError("--precision and --threshold both say where matches end; give one of them.")
    target = _target(out, space)
    with space.lock("python -m tasks match"):
        folder = _model(space)
        sides = _tables(space, encode, left, right, id) if left else _own(space, encode)
        asked, partly = float(logit(np.clip(threshold, 1e-12, 1 - 1e-12))), partly_stated(space.settings)
        if partly:
            least = Threshold(float(logit(_LEAST_PROBABLE)) if precision else asked)
        else:
            least = _threshold(space, folder, precision, asked, len(sides.records.right))
        matcher, learnt = load_matcher(folder / "model", sides.records)
        with progress("match", "records") as update:
            found = match_records(matcher, sides.records, encode.neighbours, least.score, encoder=sides.encoder, learnt=learnt, tell=update)
        if one_to_one:
            found = found.only(unique(found, symmetric=sides.records.symmetric))
        if partly and precision:
            found = found.only(np.cumsum(found.probability) >= precision * np.arange(1, len(found.left) + 1))
            least = Threshold(float(found.score.min())) if len(found.left) else least
        write_whole(target, _content(target, _table(found, sides, clusters)))
    _tell(found, least, target, sides, one_to_one, unstated=not space.settings.of(Pairs).test)
    if not matcher.calibrated:
        say("Fewer than 3 labels of one kind say how alike records that match are: the probabilities are guessed from likeness alone.")


def _checked(space: Workspace) -> Encode:
    if SECTION not in space.settings:
        raise InputError(f"{space.path} is no collection of pairs, so it has no matcher; make one with `python -m tasks init-pairs`.")
    encode = space.settings.of(Encode)
    if encode.model != MATCHER:
        raise InputError(
            f"this collection's model is `{encode.model}`, which ranks pairs and matches none; set `encode.model: {MATCHER}` and run "
            f"`python -m flows.collect --workspace {space.typed}` again."
        )
    return encode


def _target(out: str, space: Workspace) -> Path:
    target = Path(out).expanduser() if out else space.resolve(MATCHES)
    if target.suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {out}: matches are written as .csv or .parquet; give a file name that ends in one of them.")
    if out and target.exists():
        raise InputError(f"{target} exists already; name another file, or delete it.")
    return target


def _model(space: Workspace) -> Path:
    """Return the folder of the newest round that is there; of several collections, the one that is best on dev."""
    params = space.settings.of(Collect)
    newest: list[Path] = []
    for method in params.methods:
        for seed in params.seeds:
            folders = [space.resolve(folder_of(method, seed, number)) for number in range(params.rounds, 0, -1)]
            done = next((folder for folder in folders if (folder / _ROUND).exists() and (folder / "model").is_dir()), None)
            if done is not None:
                newest.append(done)
    if not newest:
        raise InputError(f"no round is done yet; run `python -m flows.collect --workspace {space.typed}` first.")
    return best_round(newest)


def _own(space: Workspace, encode: Encode) -> _Sides:
    """Return the collection's own records."""
    import pyarrow.parquet as pq

    from cartograph.pairs.matcher.records import Records
    from cartograph.pairs.tables import load_task

    folder = space.resolve(PAIRS)
    task = load_task(folder)
    ids = pq.read_table(folder / "left.parquet")["id"].to_pylist()
    right_ids = ids if task.symmetric else pq.read_table(folder / "right.parquet")["id"].to_pylist()
    vectors = starting_vectors(encode, task, space.resolve(ENCODED)) if encode.pretrained else None
    records = Records(task.left, task.left if task.symmetric else task.right, task.fields)
    return _Sides(records, ids, right_ids, ids != list(task.left) or right_ids != list(records.right), vectors)


def _tables(space: Workspace, encode: Encode, left: str, right: str, id: str) -> _Sides:
    """Return the records of new tables, whose columns are those that the collection's records have."""
    from cartograph.pairs.matcher.records import Records

    params = space.settings.of(Pairs)
    texts, ids, fields = _side(left, params, "left", id)
    other, other_ids, other_fields = _side(right, params, "right", id) if right else (texts, ids, fields)
    shared = {name: (fields[name], other_fields[name]) for name in fields if name in other_fields}
    records = Records(texts, other, shared)
    return _Sides(records, ids, other_ids, True, _encoded(records, encode) if encode.pretrained else None)


def _side(path: str, params: Pairs, side: str, id: str) -> tuple[list[str], list[str], Mapping[str, list[str]]]:
    """Return the whole texts of a table's records, their names, and their fields."""
    from cartograph.pairs.stated_rows import column_of
    from cartograph.read.formats import read
    from cartograph.read.source import Source

    name = Path(path).name
    table = (params.right_table if side == "right" else None) or params.left_table
    how = params if table is None else table
    own = str(Path(path).expanduser())
    format = None if Path(own).suffix in _TOLD else how.format
    batch = read(Source(own, name, format, how.encoding or told_encoding(own, format)))
    columns = table.text if table is not None else (params.right if side == "right" else params.left,)
    if len(batch.rejected):
        raise InputError(f"{name}: {len(batch.rejected):,} records cannot be read, the first in row {batch.rejected[0].row}; correct them.")
    values = {column: column_of(batch, column, name) for column in columns}
    texts = [" ".join(part for part in row if part) for row in zip(*values.values(), strict=True)]
    named = id or (table.id if table is not None else "id")
    has_names = bool(id) or named in batch.table.column_names
    ids = column_of(batch, named, name) if has_names else [str(row) for row in batch.rows.to_pylist()]
    return texts, ids, values if table is not None else {}


def _encoded(records: Records, encode: Encode) -> UtteranceVectors:
    from cartograph.pairs.models.untrained import untrained_encoder_vectors

    local = local_folder(encode.pretrained)
    with progress("encode", "texts") as update:
        return untrained_encoder_vectors(str(local or encode.pretrained), records.left, records.right, encode.device, update)


def _threshold(space: Workspace, folder: Path, precision: float, least: float, matched: int) -> Threshold:
    """Return from which log odds on a pair is a match, and how precise that is by the dev split among so many right records.

    Raises:
        InputError: a precision is asked for that no threshold reaches, or without a dev split to measure it on.
    """
    import numpy as np

    from cartograph.pairs.matcher.matching import Threshold, among_more, threshold_at, threshold_for
    from cartograph.pairs.tables import load_sample, load_task

    path = space.resolve(ENCODED) / "sample-dev.parquet"
    if not path.exists() or not (folder / DEV_SCORES).exists():
        if precision:
            raise InputError("--precision: there is no dev split with positive pairs to measure it on; give --threshold, a probability.")
        return Threshold(least)
    sample, scores = load_sample(path), np.load(folder / DEV_SCORES, allow_pickle=False)
    if len(scores) != len(sample.keys):
        raise InputError(
            f"{folder} was made from other data or parameters than {path.parent}; run `python -m flows.collect --workspace {space.typed}` "
            "again first."
        )
    sample = among_more(sample, len(load_task(space.resolve(PAIRS)).space("dev").right), matched)
    if not precision:
        return threshold_at(sample, scores, least)
    found = threshold_for(sample, scores, precision)
    if found is None:
        best = threshold_at(sample, scores, float(scores.max()))
        raise InputError(
            f"--precision {precision}: no threshold reaches it on the dev split; the surest pairs there are right in "
            f"{100 * best.precision:.1f} %. Ask for less, or collect more labels."
        )
    return found


def _table(found: Matches, sides: _Sides, clusters: bool) -> pa.Table:
    """Return the matches as a table: the likeliest first."""
    import numpy as np
    import pyarrow as pa

    left, right = found.left.tolist(), found.right.tolist()
    columns: dict[str, Any] = {"left_id": [sides.left_ids[row] for row in left], "right_id": [sides.right_ids[row] for row in right]}
    if sides.named:
        columns |= {"left": [sides.records.left[row] for row in left], "right": [sides.records.right[row] for row in right]}
    columns |= {"probability": np.round(found.probability, 6), "alike": list(found.reasons)}
    if clusters:
        from cartograph.data.components import components

        offset = 0 if sides.records.symmetric else len(sides.left_ids)
        member = components(found.left, found.right + offset, offset + len(sides.right_ids))[found.left]
        columns["cluster"] = np.unique(member, return_inverse=True)[1] + 1
    return pa.table(columns)


def _content(target: Path, table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cartograph.data.spreadsheet import write_sheet

    if target.suffix == ".csv":
        return write_sheet(table.column_names, zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    return bytes(buffer.getvalue())


def _tell(found: Matches, least: Threshold, target: Path, sides: _Sides, unique: bool, *, unstated: bool) -> None:
    import numpy as np

    from cartograph.pairs.matcher.model import probability

    of = f"{len(sides.left_ids):,} records" if sides.records.symmetric else f"{len(sides.left_ids):,} × {len(sides.right_ids):,} records"
    say(f"{target}: {len(found.left):,} matches among {of}, with a probability of {probability(np.array([least.score]))[0]:.3f} or more.")
    if not least.positives and len(found.left):
        say(f"Judging by their probabilities, {100 * float(found.probability.mean()):.1f} % of them are right; nobody has checked.")
    if least.positives:
        share, why = f"{100 * least.precision:.1f} % of the matches are right", ", where pairs that nobody has stated count as wrong,"
        right = f"{f'at least {share}{why}' if unstated else share} and " if least.precision == least.precision else ""
        say(
            f"Judging by the collection's dev split, at this probability, {right}{100 * least.recall:.1f} % of its "
            f"{least.positives:,} true pairs are found"
            f"{'; with one partner each, more are right and fewer are found' if unique else ''}. Other records may differ."
        )
