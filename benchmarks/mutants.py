"""Defects put into the code on purpose, one at a time, and whether the tests notice: which survived, and the score.

`python benchmarks/mutants.py [part of a path] [--draw 60 --seed 1]` works on a copy of the project in a temporary folder: with all listed
here, or those of some files; or with so many drawn by lot (`mutant_draw.py`) at the places where a wrong record could begin: measures,
selections, the solver, label doubt, the estimate, receipts, locks, escapes, flows. Each is tried with the tests of its own module,
and where those do not notice, with those of its whole package. What survives of a draw may change nothing that can be seen: look.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import mutant_draw

ROOT = Path(__file__).resolve().parent.parent
UNIT = "tests/unit"


class Mutant(NamedTuple):
    """A defect: a file, what stands there, what is put in its place, and the tests that should notice."""

    file: str
    before: str
    after: str
    tests: str


MEASURES, SOLVER, HOW_MANY, HARD = (
    "src/cartograph/maps/measures.py",
    "src/cartograph/features/linear_models.py",
    "src/cartograph/suspects/how_many.py",
    "src/cartograph/suspects/hard_classes.py",
)
RUNNING, RECEIPT, LOCK = "tasks/engine/running.py", "tasks/engine/receipt.py", "tasks/engine/lock.py"
ENGINE = f"{UNIT}/tasks/engine"
MUTANTS = (
    Mutant(MEASURES, "correct[:-1] & ~correct[1:]", "~correct[:-1] & correct[1:]", f"{UNIT}/maps/test_measures.py"),
    Mutant(MEASURES, "hits == 0, NEVER_LEARNT", "hits < 0, NEVER_LEARNT", f"{UNIT}/maps/test_measures.py"),
    Mutant(MEASURES, "variance * variance / (n_epochs - 1)", "variance * variance / n_epochs", f"{UNIT}/maps/test_measures.py"),
    Mutant(MEASURES, "correct[tied] = scores", "correct[tied] = 0 * scores", f"{UNIT}/maps/test_measures.py"),
    Mutant(MEASURES, "(1.0 - probability) ** 2", "(1.0 - probability)", f"{UNIT}/maps/test_measures.py"),
    Mutant(SOLVER, "residual + penalty * weights", "residual", f"{UNIT}/features/test_linear_models.py"),
    Mutant(SOLVER, "inside[column, place] - own[of_row] * value", "inside[column, place]", f"{UNIT}/features/test_linear_models.py"),
    Mutant("src/cartograph/suspects/given_labels.py", "    joint[rows, labels] = 0.0\n", "", f"{UNIT}/suspects/test_given_labels.py"),
    Mutant(
        "src/cartograph/suspects/anchors.py",
        "return total - float(np.trace(anchors)), total",
        "return float(np.trace(anchors)), total",
        f"{UNIT}/suspects/test_anchors.py",
    ),
    Mutant(HARD, "half = (n_classes + 1) // 2", "half = n_classes - 1", f"{UNIT}/suspects/test_hard_classes.py"),
    Mutant(HARD, "return times * number, float(len(rows))", "return number, float(len(rows))", f"{UNIT}/suspects/test_hard_classes.py"),
    Mutant(
        "src/cartograph/suspects/transitions.py",
        "np.asarray(log_likelihood) + np.log(",
        "np.zeros(len(STRENGTHS)) + np.log(",
        f"{UNIT}/suspects/test_transitions.py",
    ),
    Mutant(HOW_MANY, "unlearnt = max(high, unpredicted)", "unlearnt = high", f"{UNIT}/suspects/test_how_many.py"),
    Mutant(HOW_MANY, "max(_FEW, _HARDLY * expected)", "_FEW", f"{UNIT}/suspects/test_how_many.py"),
    Mutant("src/cartograph/statistics/gathered.py", "max(scattered, min(", "max(expected, min(", f"{UNIT}/suspects/test_how_many.py"),
    Mutant(HOW_MANY, "high = max(expected", "high = min(expected", f"{UNIT}/suspects/test_how_many.py"),
    Mutant(HOW_MANY, "_BELOW * expected * least / rate", "_BELOW * expected", f"{UNIT}/suspects/test_how_many.py"),
    Mutant(
        "src/cartograph/statistics/proportion.py",
        "4 * rows * share * (1 - share) + _Z**2",
        "4 * rows * share * (1 - share)",
        f"{UNIT}/statistics/test_proportion.py",
    ),
    Mutant(
        "src/cartograph/ingest/canonical.py",
        "contradicting(keys, labels)[len(keys) - len(item.examples) :]",
        "contradicting(keys, labels)[: len(item.examples)]",
        f"{UNIT}/tasks/audit/test_ingest.py",
    ),
    Mutant("tasks/audit/compare.py", "if facts == record.facts() or", "if True or", f"{UNIT}/tasks/audit/test_compare.py"),
    Mutant("tasks/engine/code_closure.py", "known[0] != digest", "False", f"{ENGINE}/test_code_closure.py"),
    Mutant("flows/engine/step_task.py", "if self.force or self.step", "if self.step", f"{UNIT}/flows/engine/test_step_task.py"),
    Mutant("src/cartograph/selection/table.py", "[seed, *strategy.name.encode()]", "[seed]", f"{UNIT}/selection"),
    Mutant("src/cartograph/selection/table.py", "number = round(fraction * rows)", "number = int(fraction * rows)", f"{UNIT}/selection"),
    Mutant(
        "src/cartograph/adversarial_filter/algorithm.py",
        "if len(chosen) < size:",
        "if not len(chosen):",
        f"{UNIT}/adversarial_filter/test_algorithm.py",
    ),
    Mutant(
        "src/cartograph/suspects/detector.py",
        "scale[scale <= 1e-12 * np.maximum(1.0, np.abs(centre))] = 1.0",
        "pass",
        f"{UNIT}/suspects/test_detector.py",
    ),
    Mutant("src/cartograph/clean/cleaning.py", "len(kept), replace=False", "len(kept), replace=True", f"{UNIT}/clean"),
    Mutant("src/cartograph/clean/cleaning.py", "(rows > 0) & (left == 0)", "(rows > 0) & (left < 0)", f"{UNIT}/clean"),
    Mutant("src/cartograph/clean/row_weights.py", " - np.minimum(suggested, wrong)", "", f"{UNIT}/clean"),
    Mutant("src/cartograph/clean/cleaning.py", "np.delete(labels, decided)", "labels", f"{UNIT}/clean"),
    Mutant("src/cartograph/clean/arms.py", "if arm in preferred], changing)", "if arm in preferred],)", f"{UNIT}/clean"),
    Mutant("src/cartograph/clean/arms.py", "lost[arm] is None and not", "not", f"{UNIT}/clean/test_arms.py"),
    Mutant("src/cartograph/clean/arms.py", "rows, worse=True) for other", "rows) for other", f"{UNIT}/clean/test_arms.py"),
    Mutant("src/cartograph/data/unknown_classes.py", " & (surely < KNOWN)", "", f"{UNIT}/data/test_unknown_classes.py"),
    Mutant("src/cartograph/suspects/seen_through.py", "and unclear <= MOST_UNCLEAR", "", f"{UNIT}/suspects/test_label_doubt.py"),
    Mutant("src/cartograph/suspects/label_doubt.py", "not every_class_known(", "True or (", f"{UNIT}/suspects/test_label_doubt.py"),
    Mutant("src/cartograph/features/telling.py", "< BEYOND * max(missed, 1)", "< missed", f"{UNIT}/features/test_telling.py"),
    Mutant("src/cartograph/audits/gate_values.py", "name = max(drops,", "name = min(drops,", f"{UNIT}/audits"),
    Mutant("src/cartograph/read/delimited.py", 'return "," if counts[","] else max', "return max", f"{UNIT}/read/test_source.py"),
    Mutant("src/cartograph/read/remote.py", "if total is not None and done < total:", "if False:", f"{UNIT}/read/test_remote.py"),
    Mutant("src/cartograph/read/opening.py", "if self._left < 0:", "if False:", f"{UNIT}/read/test_source.py"),
    Mutant("src/cartograph/read/rejecting.py", "lengths > MAX_CELL)", "lengths >= MAX_CELL)", f"{UNIT}/read/test_source.py"),
    Mutant("src/cartograph/read/rejecting.py", "table.num_columns < 2", "table.num_columns < 1", f"{UNIT}/read/test_rejecting.py"),
    Mutant("src/cartograph/ingest/leakage.py", "(similarity >= NEAR)", "(similarity > 0)", f"{UNIT}/ingest/test_leakage.py"),
    Mutant("src/cartograph/config.py", "if known in lines:", "if False:", f"{UNIT}/test_config.py"),
    Mutant("src/cartograph/data/whole_files.py", "os.fsync(file.fileno())\n    temporary", "temporary", f"{UNIT}/data/test_whole_files.py"),
    Mutant(RUNNING, "            sync_tree(path)\n", "            pass\n", f"{ENGINE}/test_running.py"),
    Mutant(RUNNING, "    workspace.resolve(step.receipt_name).unlink(missing_ok=True)\n", "", f"{ENGINE}/test_running.py"),
    Mutant(RUNNING, '/ "checkpoints" / step.name / fingerprint', '/ "checkpoints" / step.name', ENGINE),
    Mutant(RUNNING, "        check_unedited(step, workspace, before, code)\n", "", f"{ENGINE}/test_edits.py"),
    Mutant(RUNNING, "    check_as_begun(step, workspace, inputs, code)\n", "", f"{ENGINE}/test_edits.py"),
    Mutant(RECEIPT, "for name in step.hints.environment}", "for name in ()}", f"{ENGINE}/test_receipt.py"),
    Mutant(RECEIPT, "return receipt if sound else None", "return receipt", f"{ENGINE}/test_receipt.py"),
    Mutant("tasks/engine/digest.py", "[name.as_posix(), digest_path(file)]", "[digest_path(file)]", ENGINE),
    Mutant(LOCK, "held = (_holder(state) or [])[1:2] == [token]", "held = True", f"{ENGINE}/test_lock.py"),
    Mutant(LOCK, "return _holder(state) is not None", "return True", f"{ENGINE}/test_lock.py"),
    Mutant(
        "tasks/engine/snapshot.py", 'KEPT_PARAMS = ".cartograph/audited.yaml"', 'KEPT_PARAMS = "params.yaml"', f"{ENGINE}/test_edits.py"
    ),
    Mutant("tasks/presentation/console.py", "print(escape(visible(message))", "print(escape(message)", f"{UNIT}/tasks/presentation"),
    Mutant("src/cartograph/compare/markdown.py", 'f"{plain_markdown(name)} (', 'f"{name} (', f"{UNIT}/compare/test_markdown.py"),
    Mutant("flows/engine/parent_death.py", "        os._exit(1)", "        return", f"{UNIT}/flows/engine/test_parent_death.py"),
    Mutant("src/cartograph/experiments/dropout.py", "dropped.std(axis=1)", "dropped.var(axis=1)", f"{UNIT}/experiments/test_dropout.py"),
    Mutant(
        "src/cartograph/experiments/order.py",
        '"easy first": {"rank": -confidence}',
        '"easy first": {"rank": confidence}',
        f"{UNIT}/experiments/test_order.py",
    ),
    Mutant("src/cartograph/experiments/trained_maps.py", ", burn_in=burn_in)", ")", f"{UNIT}/experiments/test_seeds.py"),
    Mutant("src/cartograph/experiments/seeds.py", 'options["seed"] + number', 'options["seed"]', f"{UNIT}/experiments/test_seeds.py"),
)


def fails(copy: Path, file: str, text: str, tests: str) -> bool:
    """Return whether the tests fail, or do not end, with a file that says this."""
    path = copy / file
    whole = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy)]), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--timeout", "180", "-m", "not slow", *tests.split()]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False, timeout=900)
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(whole, encoding="utf-8")
    # 2: a module that the tests import does not even load.
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{tests}: pytest ended with {done.returncode}: {done.stdout.decode()[-2000:]}")
    return done.returncode != 0


def notices(copy: Path, mutant: Mutant) -> bool:
    """Return whether the tests fail with the mutant in place."""
    whole = (copy / mutant.file).read_text(encoding="utf-8")
    if mutant.before not in whole:
        raise SystemExit(f"{mutant.file} has no {mutant.before!r} any more; correct the mutant.")
    return fails(copy, mutant.file, whole.replace(mutant.before, mutant.after), mutant.tests)


def try_listed(copy: Path, parts: list[str]) -> tuple[int, int]:
    """Print what becomes of each listed mutant; return how many are noticed, and how many there are."""
    chosen = [mutant for mutant in MUTANTS if all(part in mutant.file for part in parts)]
    killed = 0
    for mutant in chosen:
        noticed = notices(copy, mutant)
        killed += noticed
        print(f"{'killed  ' if noticed else 'SURVIVED'} {mutant.file}: {' '.join(mutant.before.split())[:70]}", flush=True)
    return killed, len(chosen)


def try_drawn(copy: Path, parts: list[str], number: int, seed: int) -> tuple[int, int]:
    """Print what becomes of mutants drawn by lot; return how many are noticed, and how many there are."""
    changes = [change for change in mutant_draw.drawn(copy, number, seed) if all(part in change.file for part in parts)]
    killed = 0
    for change in changes:
        whole = (copy / change.file).read_text(encoding="utf-8")
        text = whole[: change.start] + change.after + whole[change.stop :]
        module = Path(change.file.removeprefix("src/cartograph/"))
        own, package = Path(UNIT) / module.parent / f"test_{module.name}", Path(UNIT) / module.parent
        noticed = any(fails(copy, change.file, text, str(tests)) for tests in (own, package) if (copy / tests).exists())
        killed += noticed
        line = whole.splitlines()[change.line - 1].strip()
        changed = f"{whole[change.start : change.stop].strip()[:40]!r} -> {change.after.strip()!r}"
        print(
            f"{'killed  ' if noticed else 'SURVIVED'} {change.file}:{change.line}: {changed} in {' '.join(line.split())[:90]}", flush=True
        )
    return killed, len(changes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="parts of the paths of the files to change")
    parser.add_argument("--draw", type=int, help="so many mutants by lot")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
        tried = try_drawn(copy, given.parts, given.draw, given.seed) if given.draw else try_listed(copy, given.parts)
    print("{} of {} killed".format(*tried))
    if tried[0] < tried[1]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
