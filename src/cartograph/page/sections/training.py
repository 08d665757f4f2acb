"""How the model behind the map was trained, and how good it is."""

from __future__ import annotations

import pyarrow.compute as pc

from cartograph.compare.markdown import DOMAINS
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Column, Facts, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Series
from cartograph.statistics.proportion import wilson_interval
from cartograph.wording import count, counted, probability

_RECORD = {
    "train_pass": "while training on the batch, before its update (costs nothing extra)",
    "epoch_end": "in an extra pass at the end of each epoch, dropout (random switching off of units) off",
    "stages": "after the trees that each epoch adds",
}


def training_section(audit: Audit) -> Section:
    """Return the training curve and the accuracy on each set, or why they are not known."""
    if audit.training.get("source") == "imported" or not audit.history.num_rows:
        why = audit.training.get("learning", {}).get("sentence") or (
            "The map was imported from a training run elsewhere, so its curve and its accuracy on the evaluation sets are not known here."
        )
        return Section("training", "The model behind the map", why=why, short="Training")
    sets = list(dict.fromkeys(audit.history["set"].to_pylist()))
    charts = [chart for name in ("accuracy", "loss") if _drawable(chart := _chart(audit, sets, name))]
    blocks: list[Block] = [Charts(charts)] if charts else []
    blocks += [_accuracy(audit, sets), Facts(_facts(audit))]
    lead = "The map is as good as its model: one that learnt nothing doubts every label, one that memorised the rows doubts none."
    return Section("training", "The model behind the map", lead, blocks, short="Training")


def _chart(audit: Audit, sets: list[str], name: str) -> Chart:
    epochs = sorted(set(audit.history["epoch"].to_pylist()))
    series = []
    for each in sets:
        rows = audit.history.filter(pc.equal(audit.history["set"], each))
        values = dict(zip(rows["epoch"].to_pylist(), rows[name].to_pylist(), strict=True))
        series.append(Series(each, [_finite(values.get(epoch)) for epoch in epochs]))
    meaning = {
        "accuracy": "share of rows whose given label is the model's first choice",
        "loss": "mean cross-entropy: lower means more probability on the given labels",
    }
    return Chart(name.capitalize(), meaning[name], "Epoch", [epoch + 1 for epoch in epochs], series, whole_x=True)


def _drawable(chart: Chart) -> bool:
    return any(value is not None for series in chart.series for value in series.values)


def _accuracy(audit: Audit, sets: list[str]) -> Table:
    used = {str(entry["set"]): (int(entry["rows_used"]), str(entry["domain"])) for entry in audit.validation.get("sets", [])}
    metrics = audit.metrics.get("train", {})
    cells: list[tuple[str | float | None, ...]] = []
    for name in sets:
        rows, domain = used.get(name, (0, ""))
        accuracy = _finite(metrics.get(f"{name}.accuracy"))
        interval = None
        if accuracy is not None and rows and name != "train":
            low, high = wilson_interval(round(accuracy * rows), rows)
            interval = f"{low:.2f} to {high:.2f}"
        cells.append((name, DOMAINS.get(domain, domain), rows or None, accuracy, interval, _finite(metrics.get(f"{name}.macro_f1"))))
    columns = (
        Column("Set"),
        Column("Domain", meaning="in distribution: drawn like the train set; out of distribution: from somewhere else"),
        Column("Rows", "count"),
        Column("Accuracy", "probability", f"of the model after {_kept(audit)}"),
        Column("95 % interval", meaning="range of the accuracy on other rows of the same kind (Wilson)"),
        Column(
            "Macro F1",
            "probability",
            "mean over the labels of F1, the harmonic mean of precision and recall: rare labels count as much as frequent ones",
        ),
    )
    filled = [place for place in range(len(columns)) if any(line[place] not in (None, "") for line in cells)]
    return Table(f"After {_kept(audit)}", [columns[place] for place in filled], [tuple(line[place] for place in filled) for line in cells])


def _kept(audit: Audit) -> str:
    """Return which epoch's model is kept: the last one's, or the best one's where the training ended for want of a better one."""
    best = audit.training.get("best_epoch")
    return "the last epoch" if best is None else f"epoch {count(int(best))}, the best"


def _facts(audit: Audit) -> list[tuple[str, str]]:
    training = audit.training
    facts = [("Model", str(training.get("model", "")))]
    if training.get("model") == "bow" and audit.info.characters:
        facts.append(("Reads", "words, and runs of 2 to 4 characters, since the texts share hardly a word"))
    if training.get("parameters"):
        facts.append(("Size", counted(int(training["parameters"]), "trainable number")))
    facts.append(("Epochs", count(int(training.get("epochs", 0)))))
    learning = training.get("learning", {})
    if len(learning.get("attempts", ())) > 1:
        word = "F1" if audit.several else "accuracy"
        tried = [f"{count(each['epochs'])} ({word} {probability(each['accuracy'])})" for each in learning["attempts"]]
        facts.append(("Epochs tried", f"{', '.join(tried)}: restarted each time with twice as many, until the model had learnt"))
    if learning.get("simple_accuracy") is not None:
        facts.append(("Simple models, on rows they were not trained on", f"accuracy {probability(learning['simple_accuracy'])}"))
    if training.get("record"):
        facts.append(("Probabilities read", _RECORD.get(str(training["record"]), str(training["record"]))))
    if training.get("device"):
        facts.append(("Device", str(training["device"])))
    return facts


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) < float("inf") else None
