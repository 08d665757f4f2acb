"""The public interface: the names that `cartograph` itself offers."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import cartograph
from cartograph.maps.measures import Measures

ROOT = Path(__file__).resolve().parent.parent
NAMES = [name for name in cartograph.__all__ if name != "__version__"]
CALLED = [name for name in NAMES if name != "InputError"]


@pytest.mark.parametrize("name", cartograph.__all__)
def test_a_public_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(cartograph, name) is getattr(cartograph, name)
    assert name in dir(cartograph)


def test_an_unknown_name_is_refused_with_the_names_that_are_known() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'compute_measure'; its public names are .*compute_measures"):
        cartograph.compute_measure  # noqa: B018


def test_public_names_are_sorted_and_none_is_also_a_module() -> None:
    assert cartograph.__all__ == sorted(cartograph.__all__)
    modules = {path.stem for path in (ROOT / "src/cartograph").iterdir()}
    assert not modules & set(cartograph.__all__)


def test_type_checkers_see_what_is_loaded() -> None:
    tree = ast.parse((ROOT / "src/cartograph/__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name: (node.module or "").removeprefix("cartograph.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cartograph.")
        for alias in node.names
    }
    assert seen == cartograph._MODULES
    assert sorted(seen) == NAMES


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import cartograph; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"cartograph", "__future__"}


@pytest.mark.parametrize("name", CALLED)
def test_a_public_docstring_has_arguments_errors_and_an_example_that_runs(name: str) -> None:
    found = getattr(cartograph, name)
    text = inspect.getdoc(found) or ""
    assert "Args:" in text
    documented = [found, *(method for method in vars(found).values() if inspect.isfunction(method))] if inspect.isclass(found) else [found]
    assert any("Raises:" in (inspect.getdoc(part) or "") for part in documented)
    examples = doctest.DocTestFinder(recurse=False).find(found, name, globs={**vars(sys.modules[found.__module__]), "np": np})
    assert sum(len(example.examples) for example in examples) > 0
    runner = doctest.DocTestRunner()
    for example in examples:
        assert runner.run(example).failed == 0


def test_the_reference_lists_exactly_the_public_names() -> None:
    page = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: cartograph\.(\w+)$", page, re.MULTILINE)
    assert listed == NAMES
    assert "`cartograph.__version__`" in page


def test_the_reference_covers_every_folder_of_the_library() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/reference").glob("*.md"))
    folders = {path.parent.name for path in (ROOT / "src/cartograph").glob("*/__init__.py")} - {"planted"}
    assert not [folder for folder in sorted(folders) if f"\n::: cartograph.{folder}." not in pages]


def test_the_example_of_the_reference_runs() -> None:
    page = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(example, "api.md", "exec"), {})


def test_readers_of_the_readme_meet_public_names_only() -> None:
    pages = [ROOT / "README.md", ROOT / "docs/index.md", ROOT / "docs/guide.md", ROOT / "docs/tutorials/own-loop.md"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    modules = set(re.findall(r"^\s*(?:from|import) (cartograph[\w.]*)", text, re.MULTILINE))
    assert modules == {"cartograph"}


@pytest.mark.parametrize("folder", ["src", "tasks", "flows"])
def test_the_code_itself_imports_modules_and_not_the_public_face(folder: str) -> None:
    """A new public name then changes no step's code."""
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "cartograph":
                assert not {alias.name for alias in node.names} & set(cartograph.__all__), file


NEED_TORCH = ["audit", "DynamicsCallback", "DynamicsRecorder", "aflite"]


def test_the_reference_says_what_needs_torch() -> None:
    page = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    (paragraph,) = re.findall(r"^PyTorch is only needed by .*?\n\n", page, re.MULTILINE | re.DOTALL)
    named = re.findall(r"`(\w+)", paragraph)
    assert [name for name in dict.fromkeys(named) if name in NAMES] == NEED_TORCH


@pytest.mark.slow
def test_all_but_what_the_reference_names_works_on_arrays_without_torch() -> None:
    code = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import numpy as np
from sklearn.linear_model import LogisticRegression
import cartograph
from cartograph import (
    DynamicsRecorder, aflite, assign_regions, average_precision, compute_measures, data_map, find_suspects,
    from_dynamics, interactive_map, map_table, out_of_fold_probabilities, read_dynamics, select,
)

rng = np.random.default_rng(0)
labels = np.arange(60) % 2
uids = [f"u{row:02d}" for row in range(60)]
logits = rng.normal(size=(60, 4, 2)).astype(np.float32)
measures = compute_measures(uids, logits, labels)
regions = assign_regions(uids, measures.confidence, measures.variability)
data_map(map_table(uids, labels, measures, regions))
interactive_map(map_table(uids, labels, measures))
assert len(from_dynamics((uids, labels, logits)).measures) == 60
assert average_precision(labels == 1, measures.confidence) > 0
assert len(select("compose", measures, 0.5, suspect=np.zeros(60, bool)).rows) == 30
texts = [("good " if label else "bad ") + "film" for label in labels]
assert find_suspects(labels, out_of_fold_probabilities(texts, labels)).score.shape == (60,)
features = rng.normal(labels[:, None], 1.0, (60, 3))
kept = aflite(features, labels, target_size=30, train_size=10, slice_size=10, n_partitions=8, estimator=LogisticRegression())
assert len(kept.rows) >= 30
for name in ("audit", "DynamicsCallback"):
    try:
        getattr(cartograph, name)
    except ModuleNotFoundError as error:
        assert str(error).partition(".")[0] == "torch", error
    else:
        raise AssertionError(f"{name} needs no torch")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


LOGITS = [[[2.0, 0.0], [3.0, 0.0]], [[0.0, 1.0], [1.0, 0.5]], [[0.0, 2.0], [0.0, 3.0]]]
MEASURES = Measures([0.9, 0.5, 0.2], [0.0, 0.4, 0.1], [1.0, 0.5, 0.0])  # type: ignore[arg-type]
SIZES = {"target_size": 6, "train_size": 4, "slice_size": 2, "n_partitions": 4, "device": "cpu"}
FEATURES = [[float(row % 2), float(row % 3)] for row in range(12)]
TABLE = cartograph.map_table(["a", "b", "c"], [0, 1, 0], MEASURES)

LISTS: dict[str, Callable[[], object]] = {
    "aflite": lambda: cartograph.aflite(FEATURES, [0, 1] * 6, groups=list(range(12)), evaluation={"dev": (FEATURES, [0, 1] * 6)}, **SIZES),
    "assign_regions": lambda: cartograph.assign_regions(["a", "b", "c"], [0.9, 0.5, 0.2], [0.0, 0.4, 0.1]),
    "average_precision": lambda: cartograph.average_precision([1, 0, 1], [0.9, 0.8, 0.7]),
    "compute_measures": lambda: cartograph.compute_measures(["a", "b", "c"], LOGITS, [0, 1, 0]),
    "find_suspects": lambda: cartograph.find_suspects([0, 1], [[0.9, 0.1], [0.6, 0.4]]),
    "from_dynamics": lambda: cartograph.from_dynamics((["a", "b", "c"], [0, 1, 0], LOGITS)),
    "map_table": lambda: cartograph.map_table(["a", "b", "c"], [0, 1, 0], MEASURES),
    "out_of_fold_probabilities": lambda: cartograph.out_of_fold_probabilities(["good", "bad"] * 6, [0, 1] * 6, vectors=FEATURES),
    "select": lambda: cartograph.select("compose", MEASURES, 0.34, suspect=[0, 1, 0]),
}


@pytest.mark.parametrize("name", sorted(LISTS))
def test_arrays_may_be_lists(name: str) -> None:
    LISTS[name]()


def record(logits: Any, gold: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cartograph.DynamicsRecorder(folder).record(["a"], logits, gold)


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("features must be floating-point", lambda: cartograph.aflite([["x"], ["y"]], [0, 1], **SIZES)),
    ("features cannot be read as an array", lambda: cartograph.aflite([[0.5], [0.5, 1.0]], [0, 1], **SIZES)),
    ("labels must be of one kind", lambda: cartograph.aflite(FEATURES, [0, None] * 6, **SIZES)),
    ("groups must be one per row", lambda: cartograph.aflite(FEATURES, [0, 1] * 6, groups=[1], **SIZES)),
    ("`confidence` must be one number per uid", lambda: cartograph.assign_regions(["a", "b"], [0.9], [0.0, 0.4])),
    ("uid 'b' has variability nan", lambda: cartograph.assign_regions(["a", "b"], [0.9, 0.5], [0.0, float("nan")])),
    ("confidence must be numbers", lambda: cartograph.assign_regions(["a"], ["high"], [0.0])),
    ("must have one entry per row", lambda: cartograph.average_precision([True, False], [0.1])),
    ("no row is relevant", lambda: cartograph.average_precision([False, False], [0.1, 0.2])),
    ("relevant must be True or False", lambda: cartograph.average_precision([2, 3], [0.1, 0.2])),
    ("row 2 has the score nan", lambda: cartograph.average_precision([True, False], [0.1, float("nan")])),
    ("logits cannot be read as an array", lambda: cartograph.compute_measures(["a"], [[[1.0], [1.0, 2.0]]], [0])),
    ("logits must be numbers", lambda: cartograph.compute_measures(["a"], [[["x", "y"]]], [0])),
    ("gold labels must be integers", lambda: cartograph.compute_measures(["a"], [[[0.0, 1.0]]], [0.5])),
    ("has no column `confidence`", lambda: cartograph.data_map(TABLE.drop_columns(["confidence"]))),
    ("has no column `region`", lambda: cartograph.interactive_map(TABLE.drop_columns(["region"]))),
    ("`texts` must have one text per row", lambda: cartograph.interactive_map(TABLE, ["one"], labels=["no", "yes"])),
    ("probabilities cannot be read as an array", lambda: cartograph.find_suspects([0, 1], [[0.9, 0.1], [1.0]])),
    ("probabilities must be numbers", lambda: cartograph.find_suspects([0], [["a", "b"]])),
    ("labels must be integers", lambda: cartograph.find_suspects([0.0, 1.0], [[0.9, 0.1], [0.6, 0.4]])),
    ("gold labels must be integers", lambda: cartograph.from_dynamics((["a", "b"], [0.0, 1.7], LOGITS[:2]))),
    ("gold labels must be integers", lambda: cartograph.map_table(["a"], ["x"], MEASURES)),
    ("`confidence` must be", lambda: cartograph.map_table(["a", "b"], [0, 1], MEASURES)),
    ("labels must be integers", lambda: cartograph.out_of_fold_probabilities(["good", "bad"], ["x", "y"])),
    ("vectors must be numbers", lambda: cartograph.out_of_fold_probabilities(["good", "bad"] * 6, [0, 1] * 6, vectors=[["x"]] * 12)),
    ("logits of the type list", lambda: record([[0.0, 1.0]], [0])),
    ("gold labels must be integers", lambda: record(torch.zeros(1, 2), ["x"])),
    ("gold labels of torch.float32", lambda: record(torch.zeros(1, 2), torch.tensor([0.5]))),
    ("holds no dynamics", lambda: cartograph.read_dynamics("no such folder")),
    ("`suspect` must be True or False", lambda: cartograph.select("compose", MEASURES, 0.34, suspect=["no", "no", "yes"])),
    ("`suspect` must have one entry per row", lambda: cartograph.select("compose", MEASURES, 0.34, suspect=[True])),
    ("`confidence` must be numbers", lambda: cartograph.select("random", Measures(["x"], [0.1], [1.0]), 1.0)),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("said", "call"), REFUSED, ids=[said for said, _ in REFUSED])
def test_what_cannot_be_used_raises_the_error_for_users(said: str, call: Callable[[], object]) -> None:
    with pytest.raises(cartograph.InputError, match=re.escape(said)):
        call()


def test_no_public_docstring_promises_another_error() -> None:
    for name in CALLED:
        found = getattr(cartograph, name)
        parts = [found, *(method for method in vars(found).values() if inspect.isfunction(method))] if inspect.isclass(found) else [found]
        for part in parts:
            raised = (inspect.getdoc(part) or "").partition("Raises:\n")[2].partition("\n\n")[0]
            assert set(re.findall(r"^ *(\w+Error):", raised, re.MULTILINE)) <= {"InputError"}, name
