"""The suspects of an audit as questions; answers are decisions in review/decisions.csv."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from threading import Lock
from typing import TYPE_CHECKING, Any

from cartograph.clean.decisions import Decision, merge_decisions, read_decisions, write_decisions
from cartograph.clean.review_sheet import NEXT, Suspect, asked_rows, lists_none, suspects_at
from cartograph.clean.stale_decisions import is_current, row_checks
from cartograph.data.json_files import read_json
from cartograph.data.whole_files import write_whole
from cartograph.errors import CartographError, InputError
from tasks.audit import clean, decisions
from tasks.audit.epochs import DYNAMICS, label_probabilities
from tasks.engine.workspace import Workspace
from tasks.labels.clean import own_answers
from tasks.pipelines import has_several_labels
from tasks.reviewing.questions import PICTURE_SIDE, brief_hold, require_unchanged, shown_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from cartograph.data.arrays import Floats
    from cartograph.features.nearest import NearestRows

_NEAREST = 5
_RELABEL = "relabel "
_AND = "; "
_KEYS = 9


class SuspectQuestions:
    """The suspects, most suspect first: keep, drop, or another label."""

    def __init__(
        self,
        space: Workspace,
        tables: tuple[pa.Table, pa.Table],
        annotator: str,
        on_new: Callable[[], None],
        *,
        alone: bool,
        further: int = 0,
    ) -> None:
        """Take an audit's suspects.

        Args:
            space: the audit's.
            tables: the train set and its suspects.
            annotator: who answers.
            on_new: called once where the file of decisions is new.
            alone: ask about rows that others decided too, so that judgements can be compared.
            further: how many undecided rows below the list are asked about as well; where there is no list, ``NEXT`` if it is not said.
        """
        from cartograph.clean.cleaning import aligned
        from cartograph.schema import UID

        self._space, self._annotator, self._alone, self._on_new = space, annotator, alone, on_new
        self._examples = tables[0]
        self._noise = aligned(tables[1], self._examples)
        self._given, self._labels = decisions.given_labels(self._examples)
        self._checks = row_checks(self._examples)
        self._several = has_several_labels(space.settings)
        self._path = space.resolve(decisions.DECISIONS)
        further = further or (NEXT if lists_none(self._noise) else 0)
        self._places = asked_rows(self._noise, self._by_uid(self._read()) if further else {}, further)
        self._uids: list[str] = self._noise[UID].take(self._places).to_pylist()
        found = space.resolve(clean.FOUND)
        self._calibrated = found.exists() and bool(read_json(found)["calibrated"])
        self._found: dict[int | None, NearestRows] = {}
        self._turn, self._finding = Lock(), Lock()

    def overview(self) -> dict[str, Any]:
        """Return the page's words, the classes, and the answers so far."""
        decided = self._by_uid(self._read())
        answers = {}
        for place, uid in enumerate(self._uids):
            found = decided.get(uid, [])
            if counted := [one for one in found if self._is_mine(one) or not self._alone]:
                answers[place] = _words(counted[0])
        return {
            "kind": "suspects",
            "name": self._space.name,
            "annotator": self._annotator,
            "count": len(self._uids),
            "labels": [] if self._several else list(self._labels),
            "answers": answers,
            "empty": "This audit doubts no label.",
            "next": f"python -m flows.audit{_option(self._space)}",
        }

    def question(self, place: int) -> dict[str, Any]:
        """Return a suspect's texts, labels and reason, and what was decided about it."""
        suspect = self._suspect(place)
        found = self._by_uid(self._read()).get(suspect.uid, [])
        return {
            "uid": suspect.uid,
            "rank": suspect.rank,
            "fields": shown_rows(self._examples.take(self._places[place : place + 1]), PICTURE_SIDE)[0],
            "given": suspect.given,
            "suggested": suspect.suggested,
            "probability": suspect.probability,
            "calibrated": self._calibrated,
            "reason": suspect.reason,
            "keys": self._keys(suspect),
            "answer": next((_words(one) for one in found if self._is_mine(one) or not self._alone), ""),
            "joint": _joint(found),
            "decisions": [[one.by, _words(one)] for one in found] if len(found) > 1 else [],
        }

    def context(self, place: int) -> dict[str, Any]:
        """Return the probability of the label by epoch, and the nearest rows with their labels."""
        import pyarrow as pa

        from cartograph.data.images import SHOWN_SIDE
        from cartograph.schema import LABEL

        row = self._places[self._checked(place)].as_py()
        with self._finding:
            nearest, epochs = self._nearest_to(row), self._epochs
        rows = self._examples.take(pa.array(nearest, pa.int64()))
        labels = [self._labels[label] for label in rows[LABEL].to_pylist()]
        near = [{"fields": fields, "label": label} for fields, label in zip(shown_rows(rows, SHOWN_SIDE), labels, strict=True)]
        return {"near": near, "epochs": [] if epochs is None else epochs[row].round(3).tolist()}

    def answer(self, place: int, answer: str, before: str, *, settles: bool = False) -> dict[str, Any]:
        """Write a decision, or take one back."""
        uid = self._uids[self._checked(place)]
        with self._turn, brief_hold(self._space):
            new = not self._path.exists()
            old = self._read()
            about = [one for one in old if one.uid == uid and is_current(one, self._checks)]
            wanted = self._decision(uid, answer, settles, about)
            now = _joint(about) if settles else next((_words(one) for one in about if self._is_mine(one) or not self._alone), "")
            require_unchanged(now, before, "" if wanted is None else _words(wanted))
            every = self._without(old, uid) if wanted is None else merge_decisions(old, [wanted])
            write_whole(self._path, write_decisions(every, self._checks))
            if new:
                self._on_new()
        return {"answer": "" if wanted is None else _words(wanted)}

    def agreement(self) -> dict[str, Any]:
        """Return how often two annotators end alike, and the suspects on which decisions differ."""
        from cartograph.statistics.annotator_agreement import cohen_kappa, raw_agreement

        decided = self._by_uid(self._read())
        people: dict[str, dict[str, str]] = {}
        for uid, found in decided.items():
            for one in found:
                for person in one.by.split(_AND):
                    people.setdefault(person, {})[uid] = one.outcome(self._given[uid]) or "(dropped)"
        lines = []
        for first, second in combinations(sorted(people), 2):
            both = sorted(people[first].keys() & people[second].keys())
            if both:
                left, right = ([people[person][uid] for uid in both] for person in (first, second))
                lines.append(
                    f"{first} and {second} both decided {len(both):,} rows and agree on {100 * raw_agreement(left, right):.0f} % of them "
                    f"(Cohen's kappa {cohen_kappa(left, right):.2f})."
                )
        if goes_on := self._goes_on(decided):
            lines.append(f"{goes_on} The next rows: python -m tasks review{_option(self._space)} --open --further 50")
        disputed = [
            place for place, uid in enumerate(self._uids) if len({one.outcome(self._given[uid]) for one in decided.get(uid, [])}) > 1
        ]
        return {"lines": lines, "disputed": disputed}

    def _goes_on(self, decided: Mapping[str, list[Decision]]) -> str:
        from cartograph.clean.reviewed import decided_table, errors_go_on

        return errors_go_on(self._noise, decided_table({uid: found[0] for uid, found in decided.items()}, self._given))

    def _read(self) -> list[Decision]:
        return (
            read_decisions(self._path.read_bytes(), decisions.DECISIONS, self._given, self._labels, kept=True)
            if self._path.exists()
            else []
        )

    def _by_uid(self, decisions: Sequence[Decision]) -> dict[str, list[Decision]]:
        found: dict[str, list[Decision]] = {}
        for one in decisions:
            if is_current(one, self._checks):
                found.setdefault(one.uid, []).append(one)
        return found

    def _is_mine(self, decision: Decision) -> bool:
        return self._annotator in decision.by.split(_AND)

    def _decision(self, uid: str, answer: str, settles: bool, about: Sequence[Decision]) -> Decision | None:
        """Return the decision that an answer is; None where it takes one back."""
        people = {person for one in about for person in one.by.split(_AND)} | {self._annotator}
        by = _AND.join(sorted(people)) if settles else self._annotator
        if not answer and not settles:
            return None
        label = answer.removeprefix(_RELABEL)
        comment = "; ".join(sorted({one.comment for one in about if settles or self._is_mine(one)} - {""}))
        if answer in ("keep", "drop"):
            return Decision(uid, answer, None, by, comment)
        if not answer.startswith(_RELABEL) or label not in self._labels:
            raise InputError(f"{answer[:80]!r} is no answer; expected keep, drop, or `relabel` with one of the classes.")
        if self._several and label not in (own := own_answers(self._given[uid], self._labels)):
            raise InputError(f"{answer[:80]!r} is about another label than the question; expected {' or '.join(own)}.")
        if label == self._given[uid]:
            return Decision(uid, "keep", None, by, comment)
        return Decision(uid, "relabel", label, by, comment)

    def _without(self, old: Sequence[Decision], uid: str) -> list[Decision]:
        """Return decisions less the annotator's about a row; what they decided with others stays the others'."""
        kept = []
        for one in old:
            if one.uid != uid or not self._is_mine(one):
                kept.append(one)
            elif others := _AND.join(person for person in one.by.split(_AND) if person != self._annotator):
                kept.append(replace(one, by=others))
        return kept

    def _checked(self, place: int) -> int:
        if not 0 <= place < len(self._uids):
            raise IndexError(place)
        return place

    def _suspect(self, place: int) -> Suspect:
        import pyarrow as pa

        return suspects_at(self._examples, self._noise, pa.array([self._places[self._checked(place)].as_py()]))[0]

    def _keys(self, suspect: Suspect) -> list[str]:
        """Return the classes that the keys 1 to 9 give: all of few, else the suggestion and what such rows are most often mistaken for."""
        if self._several:
            return list(own_answers(suspect.given, self._labels))
        if len(self._labels) <= _KEYS:
            return list(self._labels)
        likely = [name for name, _ in self._confusions.get(suspect.given, Counter()).most_common()]
        first = [suspect.suggested] if suspect.suggested else []
        return [name for name in dict.fromkeys([*first, *likely]) if name != suspect.given][:_KEYS]

    @cached_property
    def _confusions(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for uid, suggested in zip(self._uids, self._noise["suggested"].take(self._places).to_pylist(), strict=True):
            if suggested >= 0:
                found.setdefault(self._given[uid], Counter())[self._labels[suggested]] += 1
        return found

    def _nearest_to(self, row: int) -> list[int]:
        """Return the rows nearest to one: of rows with several labels, what others answer to the same label."""
        from cartograph.schema import LABEL

        if not self._several:
            return list(self._nearest(None).of(row, _NEAREST))
        labels = self._examples[LABEL].to_numpy() // 2
        same = (labels == labels[row]).nonzero()[0]
        return [int(same[place]) for place in self._nearest(int(labels[row])).of(int(same.searchsorted(row)), _NEAREST)]

    def _nearest(self, label: int | None) -> NearestRows:
        """Return what finds the nearest rows: among all, or among the answers to one label."""
        import pyarrow as pa

        from cartograph.features.nearest import NearestRows
        from cartograph.schema import LABEL

        if label not in self._found:
            own = self._examples
            if label is not None:
                own = own.filter(pa.array(own[LABEL].to_numpy() // 2 == label))
            self._found[label] = NearestRows(own)
        return self._found[label]

    @cached_property
    def _epochs(self) -> Floats | None:
        from cartograph.schema import UID

        try:
            return label_probabilities(self._space.resolve(DYNAMICS), self._examples[UID])
        except CartographError:
            # An audit of part of the rows: the page does without.
            return None


def _words(decision: Decision) -> str:
    return f"{_RELABEL}{decision.label}" if decision.what == "relabel" else decision.what


def _joint(found: Sequence[Decision]) -> str:
    return " | ".join(sorted(f"{one.by}: {_words(one)}" for one in found))


def _option(space: Workspace) -> str:
    return "" if space.relative == "." else f" --workspace {space.typed}"
