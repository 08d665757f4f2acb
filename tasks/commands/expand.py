"""The command `expand`: which rows of an unlabelled file are most like the map's ambiguous ones, as a sheet of what to label next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.audit.ingest import columns_of
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.measure import Measure
from tasks.audit.parameters.train import Train
from tasks.audit.publish import mark_left
from tasks.audit.recipes import recipe_of
from tasks.collection.parameters import SECTION as COLLECTION
from tasks.engine.workspace import Workspace
from tasks.pipelines import has_several_labels, open_workspace
from tasks.presentation.console import say

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Floats
    from cartograph.schema import DatasetInfo
    from cartograph.selection.expand import Expansion

SHEET = "reports/expand.csv"
_ROWS, _MEASURES, _MODEL = "data/ingest/train.parquet", "data/measure/measures.parquet", "data/train/model"
_JOINED = " | "


def expand(
    pool: Annotated[str, typer.Argument(help="File of rows without labels, with the text columns of the train set.")],
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default.")] = ".",
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows on the sheet.")] = 100,
    file_format: Annotated[str, typer.Option("--format", help="Format of the file; guessed by default.")] = "",
    out: Annotated[str, typer.Option(help="Where to write the sheet instead.")] = "",
) -> None:
    """Write a sheet of what to label next: the rows of a file that are most like the map's ambiguous ones."""
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.data.linked_rows import user_groups
    from cartograph.maps.regions import AMBIGUOUS
    from cartograph.schema import dataset_info
    from cartograph.selection.expand import expand as ranked

    space = open_workspace(workspace or ".")
    mark_left(space)
    params = _checked(space)
    sheet = _unused(Path(out).expanduser() if out else space.resolve(SHEET), bool(out))
    with space.lock("python -m tasks expand"):
        examples, measures = (pq.read_table(space.resolve(name)).sort_by("uid") for name in (_ROWS, _MEASURES))
    if examples["uid"].to_pylist() != measures["uid"].to_pylist():
        raise InputError(f"{_ROWS} and {_MEASURES} are not of the same rows; they come from different runs: run the audit again.")
    fields = columns_of(params).field_names
    unknown, count, left_out = _unknown(pool, params, file_format, examples)
    found = ranked(
        _texts(examples, fields),
        measures["variability"].to_numpy(),
        np.flatnonzero(measures["region"].to_numpy(zero_copy_only=False) == AMBIGUOUS),
        _texts(unknown, fields),
        np.random.default_rng(space.settings.of(Measure).seed),
        listed=rows,
        certainty=_certainty(space, unknown, dataset_info(examples.schema)),
        groups=user_groups(examples),
    )
    write_whole(sheet, _sheet(found, unknown, examples, fields))
    _tell(found, f"{pool}: {count:,} rows{left_out}", sheet, min(rows, unknown.num_rows))


def _checked(space: Workspace) -> Ingest:
    if COLLECTION in space.settings:
        raise InputError(f"{space.path} is a collection, which chooses pairs by itself; only an audit has a map.")
    if has_several_labels(space.settings):
        raise InputError(f"`expand` reads the map of rows with one label, and the rows of {space.path} have several; name another audit.")
    params = space.settings.of(Ingest)
    if params.image or params.features:
        held = "images" if params.image else "a table of features"
        raise InputError(f"`expand` compares texts, and this audit is of {held}; select among them with a model of your own.")
    missing = next((path for path in map(space.resolve, (_ROWS, _MEASURES)) if not path.exists()), None)
    if missing is not None:
        option = "" if space.relative == "." else f" --workspace {space.typed}"
        raise InputError(f"there is no map yet: {missing} is missing; run `python -m flows.audit{option}` first.")
    return params


def _unused(sheet: Path, asked: bool) -> Path:
    """Return where the sheet goes, if nobody's work is there already."""
    from cartograph.data.spreadsheet import read_sheet

    if not sheet.exists():
        return sheet
    if asked:
        raise InputError(f"{sheet} exists already; name another file for the sheet.")
    if any(record.cells["label"].strip() for record in read_sheet(sheet.read_bytes(), sheet.name, ("label",))):
        raise InputError(f"{sheet} has labels filled in; move it, or write a fresh one elsewhere with --out FILE.")
    return sheet


def _unknown(pool: str, params: Ingest, file_format: str, examples: pa.Table) -> tuple[pa.Table, int, str]:
    """Return the pool's rows that are neither blank, nor in the train set, nor repeated; how many it has; what was left out, in words."""
    import numpy as np
    import pyarrow as pa

    from cartograph.ingest.columns import File, is_blank, select
    from cartograph.ingest.identity import known_among, normalised_keys, repeats
    from cartograph.read.formats import read
    from cartograph.read.source import Source

    name = Path(pool).name
    batch = read(Source(str(Path(pool).expanduser()), name, format=file_format or params.format, encoding=params.encoding))
    columns = replace(columns_of(params), label=(), annotators=(), groups=(), linked=())
    fields = columns.field_names
    table = select([File(name, batch)], columns.available([File(name, batch)]))
    blank = np.any([is_blank(table[field]).to_numpy() for field in fields], axis=0)
    keys = normalised_keys(table, fields)
    in_train = (known_among(keys, normalised_keys(examples, fields)) >= 0) & ~blank
    again = repeats(keys) & ~blank & ~in_train
    counts = (
        (len(batch.rejected), "cannot be read"),
        (int(blank.sum()), "have an empty text"),
        (int(in_train.sum()), "are in the train set"),
        (int(again.sum()), "repeat another"),
    )
    left_out = "".join(f", {number:,} {what}" for number, what in counts if number)
    kept = table.filter(pa.array(~(blank | in_train | again)))
    return kept, table.num_rows + len(batch.rejected), left_out


def _certainty(space: Workspace, unknown: pa.Table, info: DatasetInfo) -> Floats | None:
    """Return how certain the map's model is of each row; None where none can read them: an imported map, a probe's vectors."""
    import numpy as np
    import pyarrow as pa
    from scipy.special import softmax

    from cartograph.schema import LABEL, ROW, SOURCE, UID, examples_schema
    from cartograph.train.inference import infer

    params, model = space.settings.of(Train), space.resolve(_MODEL)
    if not model.is_dir() or params.model == "probe" or not unknown.num_rows:
        return None
    made = {
        UID: [str(number) for number in range(unknown.num_rows)],
        LABEL: np.zeros(unknown.num_rows, np.int32),
        SOURCE: unknown[SOURCE],
        ROW: unknown[ROW],
    }
    schema = examples_schema(info)
    columns = [made[name] if name in made else unknown[name] for name in schema.names]
    examples = pa.Table.from_arrays([pa.array(column) if isinstance(column, list) else column for column in columns], schema=schema)
    found = infer(recipe_of(params, space), model, examples).logits[0]
    certainty: Floats = softmax(found.astype(np.float64), axis=1).max(axis=1)
    return certainty


def _texts(table: pa.Table, fields: tuple[str, ...]) -> list[tuple[str, ...]]:
    return list(zip(*(table[name].to_pylist() for name in fields), strict=True))


def _sheet(found: Expansion, unknown: pa.Table, examples: pa.Table, fields: tuple[str, ...]) -> bytes:
    from cartograph.data.spreadsheet import write_sheet
    from cartograph.schema import dataset_info

    labels = dataset_info(examples.schema).labels
    identified = "uid" in unknown.column_names
    header = ["rank", "file", "row", *(["uid"] if identified else []), *fields, "label"]
    header += ["unsure" if found.known is None else "expected_variability", "like_uid", "like_text", "like_label", "similarity"]
    lines: list[list[str | float]] = []
    for rank, (place, alike, cosine) in enumerate(zip(found.order, found.alike, found.similarity, strict=False), start=1):
        row, like = (table.slice(int(at), 1).to_pylist()[0] for table, at in ((unknown, place), (examples, alike)))
        line: list[str | float] = [
            rank,
            row["source"],
            row["row"],
            *([row["uid"] or ""] if identified else []),
            *(row[name] for name in fields),
        ]
        line += ["", round(float(found.scores[place]), 4), like["uid"], _JOINED.join(like[name] for name in fields)]
        lines.append([*line, labels[like["label"]], round(float(cosine), 3)])
    return write_sheet(header, lines)


def _tell(found: Expansion, pool: str, sheet: Path, listed: int) -> None:
    scores, known = found.scores[found.order], found.known
    what = "probability of another label than the likeliest" if known is None else "expected variability"
    say(f"{pool}.")
    say(
        f"{sheet}: a reading list of {listed:,} rows to label next, {what} {scores[listed - 1]:.3f} to {scores[0]:.3f} "
        f"(all {len(scores):,}: {scores.mean():.3f} on average)."
    )
    if known is None:
        say("They are sorted by how uncertain the model behind the map is, most uncertain first.")
    elif known.low > 0:
        say(
            "No model of the map can read these rows, so their texts decide. How well texts show which rows of this map are ambiguous: "
            f"rank correlation {known.r:.2f} on rows held out (95 % interval {known.low:.2f} to {known.high:.2f}; 0 = a random order)."
        )
    else:
        say(
            "No model of the map can read these rows, and their texts do not show which are ambiguous (rank correlation on rows held out: "
            f"{known.r:.2f}, 95 % interval {known.low:.2f} to {known.high:.2f}): this order is no better than a random one."
        )
