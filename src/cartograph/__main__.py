"""The command `cartograph`: audits a file where nothing but the library is installed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Literal

from cartograph.errors import CartographError, InputError, NoColumnError
from cartograph.frames.terminal import say, watched
from cartograph.wording import names_between_commas, visible

if TYPE_CHECKING:
    from cartograph.frames.opened import FileForm
    from cartograph.frames.rows import Rows
    from cartograph.ingest.canonical import IngestedSet

_NAMED, _INTERRUPTED = 5, 130
_WAY_OUT = "Name the texts with --text and the labels with --label; a table of features is read with --features."
_IMAGES = "This command reads no images; in Cartograph's project `make audit DATA=FOLDER IMAGE=image` audits a folder of them."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 2 bad usage or input, 130 interrupted."""
    given = _parser().parse_args(arguments)
    try:
        _audit(given)
    except CartographError as error:
        sys.stderr.write(f"error: {visible(str(error))}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped before its results were whole; run the command again.\n")
        return _INTERRUPTED
    except OSError as error:
        sys.stderr.write(f"error: {error.filename or given.file} cannot be read or written: {error.strerror or error}.\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("cartograph", description="Find the wrong, ambiguous and too-easy labels in a dataset.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    audit = commands.add_parser("audit", help="audit a file; writes report.html, suspects.csv and cleaned.csv")
    audit.add_argument(
        "file",
        help="CSV, TSV, JSONL, Parquet or Excel (.xlsx, of which book.xlsx:SHEET names a sheet), one row per example; or a folder of "
        "texts, with a sub-folder per class",
    )
    audit.add_argument("--text", default=[], action="append", help="the text column (default: text); give it twice for pairs")
    audit.add_argument("--features", action="store_true", help="a table of features: all other columns are read")
    audit.add_argument("--feature", default=[], action="append", metavar="COLUMN", help="a column of a table of features; repeatable")
    audit.add_argument("--label", default="", help="the label column (default: label); a+b+c: the majority of several")
    audit.add_argument(
        "--labels",
        default="",
        metavar="COLUMN[,COLUMN…]",
        help="for rows with several labels: the column that lists them (names separated by | ; or commas), or columns of 0 and 1",
    )
    audit.add_argument(
        "--linked",
        default="",
        metavar="COLUMN",
        help="a column whose equal values link rows, such as a patient, a speaker or a document: they are held out together",
    )
    audit.add_argument(
        "--labelled-by",
        default="",
        metavar="COLUMN",
        help="a column that says who gave a row's label: labels of somebody who is more often wrong are doubted more",
    )
    audit.add_argument("--encoding", default="", help="of a text file that is not UTF-8; found out by default where that can be")
    audit.add_argument(
        "--columns", default="", metavar="NAME[,NAME…]", help="names of the columns by position, for a file without a header line"
    )
    audit.add_argument("--out", help="folder for the results (default: the file's name with -audit)")
    audit.add_argument(
        "--threshold", type=float, default=0.5, help="rows whose label is wrong with at least this probability are suspects (default: 0.5)"
    )
    audit.add_argument(
        "--recipe",
        default="auto",
        choices=("auto", "drop-flagged", "relabel", "down-weight"),
        help="what becomes of labels that are surely wrong in cleaned.csv: dropped, or corrected where the right one is known; "
        "down-weight: all rows stay, with a column `weight` of how much each counts by how likely its label is right; auto: the better of "
        "the first two where models are better for it, by cross-validation on the file, or no worse and it is clear that labels are wrong; "
        "else weights where models are better for these, else nothing (default: auto)",
    )
    audit.add_argument(
        "--epochs", type=_epochs, default="auto", help="epochs of the training behind the map, 2 or more; auto: until the model has learnt"
    )
    audit.add_argument("--seed", type=int, default=13, help="seed of the training and of the folds (default: 13)")
    return parser


def _epochs(given: str) -> int | Literal["auto"]:
    if given == "auto":
        return "auto"
    try:
        return int(given)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number or auto, but is {given!r}") from None


def _audit(given: argparse.Namespace) -> None:
    if not given.file:
        raise InputError("FILE is empty; name the file to audit.")
    if given.seed < 0:
        raise InputError(f"--seed must be 0 or more, but is {given.seed}.")
    if sum(map(bool, (given.text, given.features, given.feature))) > 1:
        raise InputError(
            "--text reads texts alone, --features all columns of a table, texts too, --feature some: give one of the three, not more."
        )
    if given.labels and given.recipe != "auto":
        raise InputError("--recipe is for rows of one label; with --labels the labels that are surely wrong are put right.")
    if given.labels and given.labelled_by:
        raise InputError("--labelled-by is for rows of one label; leave it out where a row has several.")
    if given.label and given.labels:
        raise InputError("name the label column with --label, or with --labels where a row has several labels; not both.")
    try:
        (_audit_labels if given.labels else _audit_one_label)(given)
    except NoColumnError as error:
        if sheets := _other_sheets(given.file):
            raise InputError(f"{str(error).rstrip('.')}{sheets}.") from error
        named = (given.text or given.features or given.feature) and (given.label or given.labels)
        if named or any(name and f"no column `{name}`" in str(error) for name in (given.linked, given.labelled_by)):
            raise
        raise InputError(f"{error} {_IMAGES if _holds_images(given.file) else _WAY_OUT}") from error


def _other_sheets(path: str) -> str:
    from cartograph.read.excel import other_sheets
    from cartograph.read.source import Source

    return other_sheets(Source(path, Path(path).name))


def _holds_images(path: str) -> bool:
    from cartograph.read.formats import format_of

    return format_of(path) == "image-folder"


def _audit_one_label(given: argparse.Namespace) -> None:
    from cartograph.frames.rows import check_epochs, check_threshold, read_rows
    from cartograph.wording import counted, share

    check_threshold(given.threshold)
    check_epochs(given.epochs)
    features, form = given.features or given.feature, _form(given)
    rows = read_rows(given.file, _texts(given), given.label or "label", features, form, given.linked, given.labelled_by)
    if given.recipe == "down-weight":
        rows.require_no_weights()
    folder = _begin(given, rows, counted(len(rows.ingested.info.labels), "class", "classes"))
    # Only now, since to import what trains takes longer than to see that a file is not as it was said to be.
    from cartograph.frames.audit import audit_rows
    from cartograph.frames.closing import write_and_say

    with watched() as (trained, judged, compared):
        found = audit_rows(
            rows, epochs=given.epochs, threshold=given.threshold, seed=given.seed, progress=trained, judged=judged, compared=compared
        )
        done = found.changes(given.recipe)
    examples = rows.ingested.examples
    part = f"{counted(len(found.suspects), 'suspect')} ({share(len(found.suspects), len(examples))} of the rows)"
    write_and_say(found, folder, rows.ingested, part, done, given.recipe)


def _audit_labels(given: argparse.Namespace) -> None:
    from cartograph.frames.label_rows import read_label_rows
    from cartograph.frames.rows import check_epochs, check_threshold
    from cartograph.wording import counted, share

    check_threshold(given.threshold)
    check_epochs(given.epochs)
    rows = read_label_rows(given.file, _texts(given), _label_columns(given), given.features or given.feature, _form(given), given.linked)
    folder = _begin(given, rows.rows, counted(len(rows.names), "label"))
    for sentence in (rows.one_each_sentence, rows.empty_sentence, rows.left_out_sentence(3)):
        if sentence:
            say(sentence)
    from cartograph.frames.closing import write_and_say
    from cartograph.frames.several_labels import audit_labels

    with watched() as (trained, judged, _):
        found = audit_labels(rows, epochs=given.epochs, threshold=given.threshold, seed=given.seed, progress=trained, judged=judged)
    part = f"{counted(len(found.suspects), 'suspect')} ({share(len(found.suspects), len(found.measures))} of all yes and no)"
    done = (
        f"{counted(found.corrections, 'label')} put right, the most surely wrong"
        if found.corrections
        else "unchanged: no label is surely wrong"
        if found.wrong is not None
        else "unchanged, as it is not known closely how many labels are wrong"
    )
    write_and_say(found, folder, rows.rows.ingested, part, done)


def _label_columns(given: argparse.Namespace) -> str | list[str]:
    """Return the one column of lists, or the columns of 0 and 1; a comma in a column's name is written with a backslash before it."""
    names = names_between_commas(given.labels)
    if not all(names):
        raise InputError(f"--labels {given.labels} has an empty name; name one column of lists, or columns of 0 and 1 between commas.")
    return names[0] if len(names) == 1 else names


def _texts(given: argparse.Namespace) -> list[str]:
    return given.text or ([] if given.features or given.feature else ["text"])


def _form(given: argparse.Namespace) -> FileForm:
    """Return how the file is read; of a text file that is not UTF-8 its encoding is said, where it is not given."""
    from cartograph.frames.opened import FileForm
    from cartograph.read.encodings import mixed_sentence
    from cartograph.read.excel import sheet_named
    from cartograph.read.formats import guessed_encoding

    columns = tuple(names_between_commas(given.columns)) if given.columns else ()
    if given.encoding or (found := guessed_encoding(Path(sheet_named(given.file)[0]))) is None:
        return FileForm(given.encoding, columns)
    mixed = mixed_sentence(given.file, found)
    say(f"{Path(given.file).name} is not UTF-8; it is read as {found} (another: --encoding NAME){mixed and '.'}{mixed}")
    return FileForm(found, columns)


def _begin(given: argparse.Namespace, rows: Rows, kinds: str) -> Path:
    """Say what was read, and make the folder of the results."""
    from cartograph.ingest.canonical import reasons_phrase
    from cartograph.ingest.joined_labels import joined_sentence
    from cartograph.ingest.label_forms import blanks_sentence, forms_sentence
    from cartograph.ingest.measurements import measurements_sentence
    from cartograph.ingest.near_copies import near_copies_sentence
    from cartograph.ingest.placeholders import placeholders_sentence
    from cartograph.wording import counted

    say(f"{counted(len(rows.ingested.examples), 'row')}, {kinds}")
    counts = {} if given.labels else rows.ingested.class_counts
    blanks = "" if given.labels else blanks_sentence(rows.given[rows.columns[-1]].iloc[rows.places])
    of_names = forms_sentence(counts), placeholders_sentence(counts), joined_sentence(counts), measurements_sentence(counts)
    for sentence in (*of_names, blanks):
        if sentence:
            say(sentence)
    if aside := len(rows.ingested.quarantine):
        say(f"{counted(aside, 'row')} of {rows.ingested.rows_read:,} set aside: {reasons_phrase(rows.ingested.quarantine)}")
    if (linkage := rows.ingested.linkage) is not None:
        for line in (*([linkage.sentence] if linkage.groups else []), *linkage.warnings.values()):
            say(line)
    if copies := near_copies_sentence(rows.ingested.near_copies, rows.not_read):
        say(copies)
    for line in _columns_read(rows.ingested, not given.labels):
        say(line)
    if not given.labels and (beside := rows.columns_beside_sentence(_NAMED)):
        say(beside)
    if not given.labels and (who := rows.labeller_sentence("--labelled-by ")):
        say(who)
    folder = _writable(Path(given.out or f"{Path(given.file).stem}-audit"))
    if len(rows.ingested.info.labels) > 1 or given.labels:
        say("training a model, to see how each row is learnt")
    return folder


def _writable(folder: Path) -> Path:
    """Return a folder, made if it is not there; one that cannot be written to is found out before the training, not after it."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


def _columns_read(ingested: IngestedSet, one_label: bool) -> list[str]:
    """Return what the columns of a table of features were read as, which were not, and what tells the label."""
    from cartograph.features.telling import telling_sentence, what_tells
    from cartograph.ingest.values import strays
    from cartograph.schema import VALUES
    from cartograph.wording import counted, cut, listing

    telling = [said] if one_label and (said := telling_sentence(what_tells(ingested.examples))) else []
    kinds = [feature.kind for feature in ingested.info.features]
    if not kinds:
        return telling
    plurals = {"number": "numbers", "category": "categories", "date": "dates", "text": "texts"}
    held = listing([f"{kinds.count(kind):,} {many if kinds.count(kind) > 1 else kind}" for kind, many in plurals.items() if kind in kinds])
    lines = [f"{counted(len(kinds), 'column')}: {held}"]
    for feature in ingested.info.features:
        odd = strays(ingested.examples[VALUES].combine_chunks().field(feature.name)) if feature.kind == "category" else []
        if odd:
            others = f" and {counted(len(odd) - 1, 'more value')}" if len(odd) > 1 else ""
            said = f"mostly numbers, is read as categories, since `{cut(odd[0], 40)}`{others} can't be read as numbers"
            lines.append(f"`{cut(feature.name, 40)}`, {said}; correct or empty such cells to have it read as numbers")
    if left_out := ingested.left_out:
        named = listing([f"`{cut(name, 40)}`" for name in left_out[:_NAMED]])
        them = "it" if len(left_out) == 1 else "them"
        more = f", and {len(left_out) - _NAMED:,} more" if len(left_out) > _NAMED else ""
        lines.append(
            f"left out (names that hardly repeat, row numbers, who labelled, empty, marked so): {named}{more}; "
            f"to read {them}, name {them} and every other column to read with --feature"
        )
    return [*lines, *telling]


if __name__ == "__main__":
    sys.exit(main())
