"""The top of a collection's page: one sentence, the lines under it, and four figures."""

from __future__ import annotations

from cartograph.page.collection.content import Collection
from cartograph.page.collection.phrases import UNSTATED, interval_of, metric_interval, phrase_of
from cartograph.page.verdict import Figure, Verdict
from cartograph.pairs.answers import time_to_answer
from cartograph.pairs.comparison import UNTRAINED
from cartograph.wording import count, counted, percent

_MEASURE = "average_precision"
_STATIC = "static-retrieval"
_PEOPLE = "people.last"


def top(collection: Collection) -> Verdict:
    """Return the sentence, the lines under it, and four figures."""
    best, metrics, task = collection.best, collection.metrics, collection.task
    ratio = round(task["test.pairs"] / max(task["test.positives"], 1))
    precision = percent(metrics[f"{best}.{_MEASURE}"], 1)
    over = f"over all {count(int(task['test.pairs']))} test pairs, of which 1 in {count(ratio)} is positive"
    if _in_vain(collection):
        sentence = f"Average precision is {precision} {over}; the labels have made no measurable difference so far"
    else:
        sentence = f"Labels chosen by {phrase_of(best)} gave {precision} average precision {over}"
    figures = (
        Figure("Average precision", precision, f"{phrase_of(best)}; 95 % interval {metric_interval(metrics, f'{best}.{_MEASURE}')}"),
        Figure(
            "Precision at recall 20 %",
            percent(metrics[f"{best}.precision_at_recall_20"], 1),
            f"interval {metric_interval(metrics, f'{best}.precision_at_recall_20')}",
        ),
        Figure(
            "Labels",
            count(int(metrics[f"{best}.labels"])),
            f"{count(round(metrics[f'{best}.positive']))} of them positive, for each method and seed",
        ),
        _candidates(collection),
    )
    tested = _by_people(collection)
    if f"{_PEOPLE}.{_MEASURE}" in metrics:
        asked = count(int(metrics["people.asked"]))
        figures = (
            Figure(
                "Average precision",
                percent(metrics[f"{_PEOPLE}.{_MEASURE}"], 1),
                f"by answers to {asked} test pairs; 95 % interval {metric_interval(metrics, f'{_PEOPLE}.{_MEASURE}')}",
            ),
            Figure(
                "Precision at recall 20 %",
                percent(metrics[f"{_PEOPLE}.precision_at_recall_20"], 1),
                f"interval {metric_interval(metrics, f'{_PEOPLE}.precision_at_recall_20')}",
            ),
            *figures[2:],
        )
    if collection.partly_stated:
        return Verdict(f"{_answered(collection)}.", (*tested, _hour(collection), _use(collection)), figures)
    lines = (_worth(collection), _hidden(collection), _saved(collection), *tested, _hour(collection), _use(collection))
    return Verdict(f"{sentence}.", tuple(line for line in lines if line), figures)


def _by_people(collection: Collection) -> tuple[str, ...]:
    """Return how good the model is by answers to test pairs, or how to get them; nothing where nobody is asked."""
    metrics = collection.metrics
    if "people.asked" not in metrics:
        return ()
    asked = int(metrics["people.asked"])
    if f"{_PEOPLE}.{_MEASURE}" not in metrics:
        there = f"{count(int(metrics['people.answered']))} of them are answered." if metrics["people.answered"] else ""
        way = (
            f"reports/test-pairs.csv asks about {count(asked)} test pairs, about {time_to_answer(asked)} of a person's time; saved as "
            f"review/test-pairs.csv with its answers, its answers replace the assumption that unstated pairs are negative. {there}"
        ).strip()
        return (UNSTATED, way) if collection.partly_stated else (way,)
    before, found = metrics[f"people.untrained.{_MEASURE}"], int(metrics["people.found"])
    points = [f"{100 * metrics[name]:+.1f}".replace("-", "\u2212") for name in ("people.gain", "people.gain.low", "people.gain.high")]
    hidden = (
        f"{count(found)} of them are matches that nobody had stated, and stand for about {count(round(metrics['people.hidden']))}"
        if found
        else "none of them is a match that nobody had stated"
    )
    now = f"{percent(metrics[f'{_PEOPLE}.{_MEASURE}'], 1)} (95 % CI {metric_interval(metrics, f'{_PEOPLE}.{_MEASURE}')})"
    return (
        f"By people's answers to {count(asked)} test pairs, drawn from all with known chances, average precision is {now}; before any "
        f"label it was {percent(before, 1)}: {points[0]} points ({points[1]} to {points[2]}); {hidden}.",
    )


def _answered(collection: Collection) -> str:
    """Return what people answered, and whether the matcher learnt from it."""
    best, metrics = collection.best, collection.metrics
    asked, positive = (counted(round(metrics[f"{best}.labels"]), "pair"), count(round(metrics[f"{best}.positive"])))
    found = f"{asked} were asked about, {positive} are matches"
    if f"{best}.answers_gain" not in metrics:
        return f"{found}; what the labels taught is not measured on answers that the model has not seen"
    gain, error = metrics[f"{best}.answers_gain"], metrics[f"{best}.answers_gain_error"]
    measured = f"area under the ROC curve {gain:+.2f} ± {error:.2f}".replace("-", "\u2212")
    better = "better than similarity alone" if gain > error else "no better than similarity alone, so far"
    return f"{found}; the matcher ranks answers that it has not seen {better} ({measured})"


def _use(collection: Collection) -> str:
    """Return where the matches are, and what asks about the surest unstated ones."""
    matches = f"Matches: {collection.matches} writes reports/matches.csv, each with its probability. " if collection.matches else ""
    return f"{matches}reports/mistakes.csv asks about the surest pairs that no stated label covers."


def _hour(collection: Collection) -> str:
    """Return what one more hour of labelling would bring, or why that cannot be estimated yet."""
    hour = collection.hour
    what = f"one more hour of labelling ({count(int(hour['more']))} pairs)"
    if hour["why_not"]:
        return f"What {what} would bring cannot be estimated yet: {hour['why_not']}."
    low, high = (f"{100 * hour[end]:.1f}" for end in ("low", "high"))
    return (
        f"{what[0].upper()}{what[1:]} would raise average precision by about {100 * hour['gain']:.1f} points (95 % CI {low} to {high}), if "
        "the curve goes on as it did."
    )


def _candidates(collection: Collection) -> Figure:
    encoded = collection.encoded
    lost = encoded.get("test.positives_lost")
    if lost is None:
        return Figure("Candidates found", percent(encoded["recall"], 1), "of the exact nearest neighbours, on a sample")
    whole = lost + encoded["test.positives_proposed"]
    return Figure(
        "Positives among candidates",
        percent(1 - lost / max(whole, 1), 1),
        f"of the {count(int(whole))} test positives; {count(int(lost))} are proposed by no similarity, and cannot be found",
    )


def _hidden(collection: Collection) -> str:
    """Return how the scores on the stated pairs differ from those on all; empty where no negative pair is stated."""
    name = "stated" if "stated" in collection.methods else collection.best
    accuracy = collection.metrics.get(f"{name}.stated.accuracy")
    if accuracy is None:
        return ""
    share = collection.metrics[f"{name}.stated.positives"] / collection.metrics[f"{name}.stated.pairs"]
    return (
        f"On the stated test pairs, {percent(share, 1)} of them positive, the model of {phrase_of(name)} labels scores "
        f"{percent(accuracy, 1)} accuracy; over all pairs its average precision is "
        f"{percent(collection.metrics[f'{name}.{_MEASURE}'], 1)}."
    )


def _in_vain(collection: Collection) -> bool:
    """Return whether a matcher that knows the labels is not measurably better or worse than one that knows none."""
    change = collection.difference(UNTRAINED)
    return change is not None and f"{UNTRAINED}.{_MEASURE}" in collection.metrics and change["low"] <= 0 <= change["high"]


def _worth(collection: Collection) -> str:
    """Return what the labels changed; empty where the model before any label was not scored."""
    before = collection.metrics.get(f"{UNTRAINED}.{_MEASURE}")
    change = collection.difference(UNTRAINED)
    if before is None or change is None:
        return ""
    labels = counted(round(collection.metrics[f"{collection.best}.labels"]), "label")
    if change["low"] > 0:
        what = f"{labels} raised it by {100 * change['difference']:.1f} points"
    elif change["high"] < 0:
        what = f"{labels} lowered it by {-100 * change['difference']:.1f} points"
    else:
        what = f"{labels} made no measurable difference: {100 * change['difference']:+.1f} points".replace("-", "\u2212")
    return f"Without any label its average precision is {percent(before, 1)}; {what} (95 % CI {interval_of(change)})."


def _saved(collection: Collection) -> str:
    """Return how many fewer labels the best method needed than static retrieval; empty where that is not measured."""
    needed = collection.metrics.get(f"{collection.best}.labels_to_static")
    against, change = collection.difference(_STATIC), collection.difference(UNTRAINED)
    if not needed or against is None or against["low"] <= 0 or change is None or change["low"] <= 0:
        return ""
    whole = collection.metrics[f"{_STATIC}.labels"]
    if whole <= needed:
        return ""
    return (
        f"{phrase_of(collection.best).capitalize()} needed {count(int(needed))} labels for the average precision that static retrieval has "
        f"after {count(int(whole))}: {percent(1 - needed / whole)} fewer."
    )
