"""The top of a collection's page: one sentence, the lines under it, and four figures."""

from __future__ import annotations

from cartograph.page.collection.content import Collection
from cartograph.page.collection.phrases import metric_interval, phrase_of
from cartograph.page.verdict import Figure, Verdict
from cartograph.wording import count, percent

_MEASURE = "average_precision"
_STATIC = "static-retrieval"


def top(collection: Collection) -> Verdict:
    """Return the sentence, the lines under it, and four figures."""
    best, metrics, task = collection.best, collection.metrics, collection.task
    ratio = round(task["test.pairs"] / max(task["test.positives"], 1))
    precision = percent(metrics[f"{best}.{_MEASURE}"], 1)
    sentence = (
        f"Labels chosen by {phrase_of(best)} gave {precision} average precision over all {count(int(task['test.pairs']))} test pairs, "
        f"of which 1 in {count(ratio)} is positive"
    )
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
        Figure("Candidates found", percent(collection.encoded["recall"], 1), "of the exact nearest neighbours, on a sample"),
    )
    return Verdict(f"{sentence}.", tuple(line for line in (_hidden(collection), _saved(collection)) if line), figures)


def _hidden(collection: Collection) -> str:
    """Return what the balanced test hides; empty where the task has no such test."""
    name = "stated" if "stated" in collection.methods else collection.best
    accuracy = collection.metrics.get(f"{name}.stated.accuracy")
    if accuracy is None:
        return ""
    return (
        f"On the stated test pairs, which somebody balanced, the model of {phrase_of(name)} labels scores {percent(accuracy, 1)} accuracy; "
        f"over all pairs its average precision is {percent(collection.metrics[f'{name}.{_MEASURE}'], 1)}."
    )


def _saved(collection: Collection) -> str:
    needed = collection.metrics.get(f"{collection.best}.labels_to_static")
    if _STATIC not in collection.methods or collection.best == _STATIC or needed is None:
        return ""
    whole = collection.metrics[f"{_STATIC}.labels"]
    return (
        f"{phrase_of(collection.best).capitalize()} needed {count(int(needed))} labels for the average precision that static retrieval has "
        f"after {count(int(whole))}: {whole / needed:.1f} times fewer."
    )
