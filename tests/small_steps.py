"""Small real steps and a workspace where they run, for the tests of what runs steps."""

from __future__ import annotations

from pathlib import Path

from cartograph.config import Section
from tasks.engine.step import Inputs, Matrix, Out, Step
from tasks.engine.workspace import Workspace
from tests.workspaces import make_workspace


class Doubling(Section):
    factor: int = 2


def double(params: Doubling, inputs: Inputs, out: Out) -> str:
    text = inputs["data/source"].joinpath("x.txt").read_text()
    (out["data/double"] / "x.txt").write_text(text * params.factor)
    out["reports/double.metrics.json"].write_text("{}")
    return f"{len(text) * params.factor} characters"


STEP = Step(name="double", run=double, params=Doubling, inputs=("data/source",), outputs=("data/double", "reports/double.metrics.json"))


def space(path: Path, factor: int = 2) -> Workspace:
    """A workspace with what `double` reads."""
    source = path / "data" / "source"
    if not source.exists():
        source.mkdir(parents=True)
        (source / "x.txt").write_text("ab")
    return make_workspace(path, double=Doubling(factor=factor))


class Grid(Section):
    factors: tuple[int, ...] = (2, 3)
    seeds: tuple[int, ...] = (1, 2)


def repeat(params: Grid, inputs: Inputs, out: Out) -> str:
    (folder,) = inputs.values()
    (out[f"data/grid/{out.cell['factor']}-{out.cell['seed']}"] / "x.txt").write_text((folder / "x.txt").read_text() * out.cell["factor"])
    return f"factor {out.cell['factor']}"


GRID = Step(name="grid", run=repeat, params=Grid, inputs=("data/{factor}",), matrix=Matrix({"factor": "factors", "seed": "seeds"}))


def shout(params: Doubling, inputs: Inputs, out: Out) -> str:
    heard = "review/decisions.csv" in inputs
    text = inputs["review/decisions.csv"].read_text() if heard else "nothing"
    (out["data/double"] / "x.txt").write_text(text)
    return text
