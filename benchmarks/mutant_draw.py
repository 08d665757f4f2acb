"""Defects drawn by lot from the code itself: one comparison, sign, number or condition changed, or one call left out, at a place each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILES = (
    "src/cartograph/maps/measures.py",
    "src/cartograph/maps/regions.py",
    "src/cartograph/selection/table.py",
    "src/cartograph/selection/rows.py",
    "src/cartograph/selection/k_centre.py",
    "src/cartograph/adversarial_filter/algorithm.py",
    "src/cartograph/adversarial_filter/slices.py",
    "src/cartograph/adversarial_filter/splits.py",
    "src/cartograph/adversarial_filter/solver/joint_fit.py",
    "src/cartograph/adversarial_filter/solver/lbfgs.py",
    "src/cartograph/features/linear_models.py",
    "src/cartograph/suspects/label_doubt.py",
    "src/cartograph/suspects/listing.py",
    "src/cartograph/suspects/mixture.py",
    "src/cartograph/suspects/through_noise.py",
    "src/cartograph/statistics/proportion.py",
    "src/cartograph/compare/markdown.py",
    "src/cartograph/data/spreadsheet.py",
    "tasks/presentation/console.py",
    "tasks/checks/data_docs.py",
    "tasks/engine/receipt.py",
    "tasks/engine/lock.py",
    "tasks/engine/running.py",
    "tasks/engine/digest.py",
    "src/cartograph/data/whole_files.py",
    "flows/engine/step_task.py",
    "flows/engine/scheduler.py",
    "flows/engine/parent_death.py",
    "flows/engine/command_line.py",
)
"""Where a wrong record could begin: measures, selections, the solver, label doubt, the estimate, receipts, locks, escapes and flows."""

_COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.Is: "is not"}
_COUNTED = {"Add": ("+", "-"), "Sub": ("-", "+"), "Mult": ("*", "/"), "Div": ("/", "*")}


class Change(NamedTuple):
    """A place in a file, as offsets of characters, and what is put there."""

    file: str
    start: int
    stop: int
    after: str
    line: int


def drawn(root: Path, number: int, seed: int) -> list[Change]:
    """Return so many changes by lot, of every file about as many, in the order of the files."""
    rng = np.random.default_rng(seed)
    left = {file: [found[place] for place in rng.permutation(len(found))] for file in FILES if (found := list(_changes(root, file)))}
    left = {file: [change for change in changes if _parses(root, change)] for file, changes in left.items()}
    taken: list[Change] = []
    while len(taken) < number and any(left.values()):
        taken += [changes.pop() for changes in left.values() if changes][: number - len(taken)]
    return sorted(taken)


def _parses(root: Path, change: Change) -> bool:
    text = (root / change.file).read_text(encoding="utf-8")
    try:
        ast.parse(text[: change.start] + change.after + text[change.stop :])
    except SyntaxError:
        return False
    return True


def _changes(root: Path, file: str) -> Iterator[Change]:
    text = (root / file).read_text(encoding="utf-8")
    starts = np.cumsum([0, *(len(line) for line in text.encode().splitlines(keepends=True))]).tolist()
    whole = text.encode()

    def change(start: int, stop: int, after: str, line: int) -> Change:
        return Change(file, len(whole[:start].decode()), len(whole[:stop].decode()), after, line)

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    for node in _meant(ast.parse(text)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            between = (span(node.left)[1], span(node.comparators[0])[0])
            if b"(" not in whole[slice(*between)] and b")" not in whole[slice(*between)]:
                yield change(*between, f" {_COMPARED[type(node.ops[0])]} ", node.lineno)
        elif isinstance(node, ast.BinOp) and type(node.op).__name__ in _COUNTED:
            before, after = _COUNTED[type(node.op).__name__]
            start, stop = span(node.left)[1], span(node.right)[0]
            if whole[start:stop].decode().strip() == before:
                yield change(start, stop, f" {after} ", node.lineno)
        elif isinstance(node, ast.BoolOp):
            start, stop = span(node.values[0])[1], span(node.values[1])[0]
            word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            if whole[start:stop].decode().split() == [word]:
                yield change(start, stop, f" {other} ", node.lineno)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert, ast.USub)):
            yield change(span(node)[0], span(node.operand)[0], "", node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield change(*span(node), str(not node.value), node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            yield change(*span(node), repr(node.value + 1), node.lineno)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield change(*span(node), "pass", node.lineno)


def _meant(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what decides something: not annotations, messages, decorators, nor what only runs for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            continue
        yield node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.decorator_list = []
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Name("object")
        if isinstance(node, ast.arg) or (isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(tree, ast.Module)):
            # Of a module's own constants, most are bounds that were measured, and a little more is as good.
            continue
        yield from _meant(node)
