"""A step, declared once: what it reads, writes and depends on; run by hand, by Prefect or by DVC."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from cartograph.config import Params, Settings
from tasks.engine.code_closure import code_closure
from tasks.engine.workspace import Workspace

Paths = tuple[str, ...]


class Inputs(Mapping[str, Path]):
    """The declared inputs of a running step: declared name -> path on disk."""

    def __init__(self, workspace: Workspace, names: Paths) -> None:
        self._paths = {name: workspace.resolve(name) for name in names}

    def __getitem__(self, name: str) -> Path:
        return self._paths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


@dataclass(frozen=True)
class Out:
    """Where a running step writes.

    ``out[name]`` is the staged path of a declared output: a folder that exists already, or a file in a folder that
    exists. Nothing is seen under the real name until the whole step has succeeded.

    Attributes:
        workspace: the workspace, for what is no output (its name, its settings).
        checkpoints: a folder that outlives a killed run and is gone after a successful one; the same fingerprint
            finds it again.
        docs: the folder ``reports/`` for pages with times in them, which are nobody's tracked output.
        failed: where a step that is about to raise may leave what it has, so that nothing is lost; made by the step,
            removed when it next succeeds.
        cell: a matrix step's values in this cell; empty for any other step.
    """

    workspace: Workspace
    staged: Mapping[str, Path]
    checkpoints: Path
    docs: Path
    failed: Path
    cell: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Path:
        return self.staged[name]


def _always(settings: Settings) -> bool:
    return True


def _never(settings: Settings) -> bool:
    return False


@dataclass(frozen=True)
class Matrix:
    """The grid of a step that runs once per combination of values.

    Attributes:
        axes: keys of the step's own section that hold the axes' values, in order, each with the name that its value has in a
            cell and in the braces of declared inputs: ``{"subset": "subsets", "seed": "seeds"}``.
        fixed: further values that every cell has, and no name.
        more: for an axis, the values that it has besides, as other keys or sections say.
        keys: the keys of the step's own section that ``more`` looks at, or that a value of an axis follows from: like the axes' keys, they
            say which cells there are.
    """

    axes: Mapping[str, str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Callable[[Settings], Sequence[Any]]] = field(default_factory=dict)
    keys: Paths = ()

    def values(self, section: str, settings: Settings) -> dict[str, list[Any]]:
        """Return each axis's values."""
        further = {axis: list(self.more[axis](settings)) if axis in self.more else [] for axis in self.axes}
        return {axis: [*getattr(settings[section], key), *further[axis]] for axis, key in self.axes.items()}

    def cells(self, section: str, settings: Settings) -> list[dict[str, Any]]:
        """Return every combination, the last axis fastest."""
        values = self.values(section, settings)
        return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


@dataclass(frozen=True)
class Step:
    """One step of an audit.

    Attributes:
        name: its section in params.yaml, its stage in dvc.yaml, its task in Prefect.
        run: ``(params, inputs, out) -> summary``; the summary is the step's one line on the console.
        params: the model of its section.
        inputs: what it reads, relative to the workspace (``data/ingest``) or, for a user's own files, as
            ``settings`` name them; a tuple, or a function of all settings.
        optional: what it reads besides where it exists, such as a file that a person may leave (``review/decisions.csv``): absent,
            it is no input at all; once it is there, ``inputs`` has it, and its content counts.
        outputs: what it writes, relative to the workspace; a name with a suffix is a file, any other a folder.
        persistent: the outputs that a person may have written into: DVC leaves them in place for the step to look at.
        resources: ``gpu`` where it uses an accelerator if there is one: such steps run one at a time.
        libraries: distributions whose version decides its numbers.
        environment: environment variables whose value decides where its result goes.
        when: whether an audit with these settings has this step.
        needs_versions: whether what ran before it must be recorded in dvc.lock first, because it reports that.
        reads: other sections of params.yaml that it depends on (``retrain`` trains as ``train`` says); it finds them in
            ``out.workspace.settings``.
        matrix: the grid of a step that is a stage per cell, named ``retrain@original-1``; its declared inputs may hold
            the cell's values, as ``data/select/{subset}.parquet``, and its output is ``data/retrain/original-1``.
        cell: the values of the cell that this is, set by ``expand``.
        spread: the keys of its section that the matrix spreads over cells, set by ``expand``: a cell depends on its own values
            alone, so one more seed trains one more model per version, and none again.
        always: whether an audit runs it even where it is fresh, because it looks at what changes without any file here.
        of: its section in params.yaml, where that is not its name: the rounds of a collection share one.
        plots: files among its outputs that `dvc plots` draws, each with how: DVC's ``x``, ``y``, ``title`` and ``template``; an image
            needs none.
        fails_alone: whether a cell of it that fails leaves why in place of its output (``failed_cell``), so that what reads the cells
            goes on without that one.
    """

    name: str
    run: Callable[[Any, Inputs, Out], str]
    params: type[Params]
    inputs: Paths | Callable[[Settings], Paths] = ()
    optional: Paths = ()
    outputs: Paths | Callable[[Settings], Paths] = ()
    persistent: Paths = ()
    resources: str = "cpu"
    libraries: Paths = ()
    environment: Paths = ()
    when: Callable[[Settings], bool] = field(default=_always)
    needs_versions: bool = False
    reads: Paths = ()
    matrix: Matrix | None = None
    cell: Mapping[str, Any] = field(default_factory=dict)
    spread: Paths = ()
    always: Callable[[Settings], bool] = field(default=_never)
    of: str = ""
    plots: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fails_alone: bool = False

    @property
    def section(self) -> str:
        """Its section in params.yaml: its name, without the cell, unless it says otherwise."""
        return self.of or self.name.partition("@")[0]

    def expand(self, settings: Settings) -> tuple[Step, ...]:
        """Return the step itself, or a matrix step's cells."""
        if self.matrix is None:
            return (self,)
        return tuple(self.in_cell(cell) for cell in self.matrix.cells(self.section, settings))

    def in_cell(self, cell: Mapping[str, Any]) -> Step:
        """Return a matrix step as the plain step of one cell."""
        spread, fixed = ((*self.matrix.axes.values(), *self.matrix.keys), self.matrix.fixed) if self.matrix else ((), {})
        name = f"{self.name}@{'-'.join(map(str, cell.values()))}"
        return replace(self, name=name, matrix=None, cell={**fixed, **cell}, spread=spread)

    def inputs_of(self, settings: Settings) -> Paths:
        """Return the declared inputs under these settings."""
        declared = self.inputs(settings) if callable(self.inputs) else self.inputs
        return tuple(name.format(**self.cell) for name in declared) if self.cell else declared

    def inputs_in(self, workspace: Workspace) -> Paths:
        """Return the declared inputs in a workspace, with those of the optional ones that exist."""
        return (*self.inputs_of(workspace.settings), *(name for name in self.optional if workspace.resolve(name).exists()))

    def outputs_of(self, settings: Settings) -> Paths:
        """Return the declared outputs under these settings."""
        declared = self.outputs(settings) if callable(self.outputs) else self.outputs
        return declared or (f"data/{self.name.replace('@', '/')}",)

    @property
    def receipt_name(self) -> str:
        """Where the step's receipt stands, relative to the workspace."""
        return f"data/{self.name.replace('@', '/')}.receipt.json"

    @property
    def code(self) -> tuple[Path, ...]:
        """The step's static first-party import closure, as absolute paths."""
        return code_closure(Path(self.run.__code__.co_filename))
