"""What the number of wrong labels, or the interval around it, does not say: errors that it leaves out, and what would say more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cartograph.clean.recommended import WEIGHABLE
from cartograph.clean.reviewed import Reviewed, errors_go_on
from cartograph.page.audit import Audit
from cartograph.page.blind import blind_number
from cartograph.page.read_verdict import BEYOND, JUDGED
from cartograph.statistics.gathered import is_most_assumed
from cartograph.wording import about, count, counted, cut

_UNRECORDED = "follow from something that no column records"


def beyond_interval(audit: Audit) -> list[str]:
    """Return which errors the interval leaves out; once people have looked, what they show, too."""
    found = [] if audit.reviewed is None else ["" if blind_number(audit) else contradicted(audit.reviewed), _errors_go_on(audit)]
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    wrong = record.get("wrong") if record.get("calibrated") else record.get("between")
    if wrong is None or blind_number(audit) or not if_all_hard_rows(wrong):
        return found
    rule = "that follow a rule, as in labels that a program, a word list or another model gave, which models learn like right ones"
    return [*found, f"{BEYOND} {rule}{_copied(audit)}."]


def _copied(audit: Audit) -> str:
    """Return that errors on near copies are left out, too, where these are many and nothing links them, as the end of a sentence."""
    copies = next((entry["near_copies"] for entry in audit.validation.get("sets", []) if entry.get("near_copies")), None)
    if copies is None:
        return ""
    many = f"{count(copies['texts'])} of {count(copies['of'])} different texts are near copies of another"
    return f"; nor errors that copies share, since each vouches for the others' ({many})"


def if_all_hard_rows(wrong: Mapping[str, float]) -> str:
    """Return how many labels may be wrong beyond the interval; empty where that is hardly more.

    Args:
        wrong: how many labels are wrong, or between which numbers that lies.
    """
    return "" if wrong["most"] < wrong["high"] + 2 else f"up to {about(wrong['most'])} if nearly all hard rows are wrong"


def at_most_a_quarter(high: float, labels: int) -> str:
    """Return that an interval ends where it is assumed to end, as a sentence that follows it; empty where it ends elsewhere."""
    ends = "the interval ends at a quarter of them, the most that errors on hard rows are assumed to be"
    return f" Of {counted(labels, 'label')}, {ends}." if is_most_assumed(high, labels) else ""


def outcomes(audit: Audit) -> list[str]:
    """Return, where some labels look wrong (of texts, for sure), what no row tells: that labels may follow from something else."""
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    if record.get("unknown") == "outcome":
        return [f"{JUDGED}, name its column otherwise than `{cut(record['outcome'], 60)}`, such as `label`."]
    if not len(audit.flagged):
        return []
    if audit.info.features:
        texts = any(feature.kind == "text" for feature in audit.info.features)
        what = "facts that neither columns nor texts decide, such as where a thing was filed" if texts else _UNRECORDED
        return [f"If these labels are outcomes, such as a decision or a result, or {what}, exceptions look like wrong labels."]
    wrong = (record.get("wrong") if record.get("calibrated") else None) or record.get("between")
    made = audit.how_made.command.startswith("cartograph.from_dynamics(")
    if wrong is None or audit.info.images or audit.several or made or round(wrong["low"]) < 1:
        return []
    return [
        "If these labels are facts that the texts do not decide, such as where a thing was filed or what was done, exceptions look like "
        "wrong labels."
    ]


def words_alone(audit: Audit) -> list[str]:
    """Return how more could be known of texts whose words say little about their labels; nothing where an encoder had its say."""
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    if record.get("unknown") not in WEIGHABLE or audit.info.task not in ("single", "pair", "choice"):
        return []
    made = audit.how_made
    embed, train = made.parameters.get("embed", {}), made.parameters.get("train", {})
    if "vectors=" in made.command or embed.get("pretrained") or embed.get("file") or train.get("pretrained"):
        return []
    way = "`embed.pretrained` in params.yaml" if made.command.startswith("make audit") else "in Python `vectors=` of `cartograph.audit`"
    return [f"No encoder read the texts: where words say little of labels, the vectors of a pretrained encoder often say far more ({way})."]


def contradicted(found: Reviewed) -> str:
    """Return that people found far more or fewer wrong labels than were estimated; empty where they did not."""
    if found.contradicted is None or found.foreseen is None:
        return ""
    foreseen = about(found.foreseen)
    return (
        f"People changed {count(found.changed)} of the {counted(found.rows, 'label')} that they looked at, where {foreseen} were estimated "
        "to be wrong: the number of the others follows what they found."
    )


def _errors_go_on(audit: Audit) -> str:
    """Return that errors go on below the list, and how to ask about the next rows; empty where people have not found that."""
    if audit.suspects is None or audit.cleaning is None:
        return ""
    found, review = errors_go_on(audit.suspects.rows, audit.cleaning.decided), audit.how_made.review
    return f"{found} `{review} --further 50` asks about the next rows." if found and review else found
