"""A step, declared once: what it reads, writes and depends on; run by hand, by Prefect or by DVC."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from cartograph.config import Section, Settings
from cartograph.data.spread import Spread, in_turn
from tasks.engine.code_closure import code_closure
from tasks.engine.workspace import Workspace

Paths = tuple[str, ...]


class Inputs(Mapping[str, Path]):
    """The declared inputs of a running step: declared name -> path on disk."""

    def __init__(self, workspace: Workspace, names: Paths) -> None:
        self._paths = {name: workspace.content(name) for name in names}

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
        forced: whether the step is asked for though it may be fresh, so that nothing kept from before is to be used.
        spread: where independent pieces of the step are computed; its outputs are the same bytes wherever that is.
    """

    workspace: Workspace
    staged: Mapping[str, Path]
    checkpoints: Path
    docs: Path
    failed: Path
    cell: Mapping[str, Any] = field(default_factory=dict)
    forced: bool = False
    spread: Spread = in_turn

    def __getitem__(self, name: str) -> Path:
        return self.staged[name]


def _always(settings: Settings) -> bool:
    return True


def _never(settings: Settings) -> bool:
    return False


@dataclass(frozen=True)
class Matrix:
    """The cells of a step that runs once per combination of values: a stage ``retrain@original-1`` each, with ``data/retrain/original-1``.

    Declared inputs of the step may hold a cell's values, as ``data/select/{subset}.parquet``.

    Attributes:
        axes: keys of the step's own section that hold the axes' values, in order, each with the name that its value has in a
            cell and in the braces of declared inputs: ``{"subset": "subsets", "seed": "seeds"}``.
        fixed: further values that every cell has, and no name.
        more: for an axis, additional values, taken from other keys or sections.
        keys: further keys of the step's own section that decide which cells there are: those that ``more`` reads, or that an axis's
            values follow from.
        leaves_failure: whether a cell that fails leaves the reason in place of its output (``failed_cell``), so that the steps that
            read the cells go on without it.
    """

    axes: Mapping[str, str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Callable[[Settings], Sequence[Any]]] = field(default_factory=dict)
    keys: Paths = ()
    leaves_failure: bool = False

    def values(self, section: str, settings: Settings) -> dict[str, list[Any]]:
        """Return each axis's values."""
        further = {axis: list(self.more[axis](settings)) if axis in self.more else [] for axis in self.axes}
        return {axis: [*getattr(settings[section], key), *further[axis]] for axis, key in self.axes.items()}

    def combinations(self, section: str, settings: Settings) -> list[dict[str, Any]]:
        """Return every combination, the last axis fastest."""
        values = self.values(section, settings)
        return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


@dataclass(frozen=True)
class Cell:
    """One cell of a step with a matrix.

    Attributes:
        values: the value of each axis, and the fixed ones.
        spread: the keys of its section that the matrix spreads over cells: a cell depends on its own values alone, so one more seed
            trains one more model per version and leaves the others as they are.
        leaves_failure: as its matrix says.
    """

    values: Mapping[str, Any]
    spread: Paths
    leaves_failure: bool


@dataclass(frozen=True)
class Hints:
    """What only the drivers of steps look at.

    Attributes:
        resources: ``gpu`` where it uses an accelerator if there is one: such steps run one at a time.
        plots: files among its outputs that `dvc plots` draws, each with DVC's ``x``, ``y``, ``title`` and ``template``; an image has none.
        always: whether an audit runs it even where it is fresh, because it looks at what changes without any file here.
        needs_versions: whether what ran before it must be recorded in dvc.lock first, because it reports those versions.
        environment: environment variables that decide where its result goes.
        awaited: whether somebody waits for its page: steps that use an accelerator and come later in the order let it go first.
    """

    resources: Literal["cpu", "gpu"] = "cpu"
    plots: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    always: Callable[[Settings], bool] = field(default=_never)
    needs_versions: bool = False
    environment: Paths = ()
    awaited: bool = False


@dataclass(frozen=True)
class Step:
    """One step of an audit or a collection: what it is, its cells, and hints to the drivers.

    Attributes:
        name: its section in params.yaml, its stage in dvc.yaml, its task in Prefect.
        run: ``(params, inputs, out) -> summary``; the summary is the step's one line on the console.
        params: the model of its section.
        inputs: what it reads, relative to the workspace (``data/ingest``) or, for a user's own files, as
            ``settings`` name them; a tuple, or a function of all settings.
        optional: what it also reads where it exists, such as a file that a person may leave (``review/decisions.csv``).
        outputs: what it writes, relative to the workspace; a name with a suffix is a file, any other a folder. One folder by default.
        reads: other sections of params.yaml that it depends on (``retrain`` trains as ``train`` says); it finds them in
            ``out.workspace.settings``.
        libraries: distributions whose version decides its numbers.
        when: whether an audit with these settings has this step.
        of: its section in params.yaml, where that is not its name: the rounds of a collection share one.
        matrix: its cells, for a step that runs once per cell.
        cell: the cell that this is, set by ``expand``.
        hints: what the drivers look at.
    """

    name: str
    run: Callable[[Any, Inputs, Out], str]
    params: type[Section]
    inputs: Paths | Callable[[Settings], Paths] = ()
    optional: Paths = ()
    outputs: Paths | Callable[[Settings], Paths] = ()
    reads: Paths = ()
    libraries: Paths = ()
    when: Callable[[Settings], bool] = field(default=_always)
    of: str = ""
    matrix: Matrix | None = None
    cell: Cell | None = None
    hints: Hints = Hints()

    @property
    def section(self) -> str:
        """Its section in params.yaml: its name, without the cell, unless it says otherwise."""
        return self.of or self.name.partition("@")[0]

    @property
    def leaves_failure(self) -> bool:
        """Whether it is, or has, cells that leave the reason of a failure in place of their output."""
        declared = self.cell or self.matrix
        return declared is not None and declared.leaves_failure

    def expand(self, settings: Settings) -> tuple[Step, ...]:
        """Return the step itself, or a matrix step's cells."""
        if self.matrix is None:
            return (self,)
        return tuple(self.in_cell(self.matrix, values) for values in self.matrix.combinations(self.section, settings))

    def in_cell(self, matrix: Matrix, values: Mapping[str, Any]) -> Step:
        """Return the step as the plain step of one cell of its matrix."""
        cell = Cell({**matrix.fixed, **values}, (*matrix.axes.values(), *matrix.keys), matrix.leaves_failure)
        return replace(self, name=f"{self.name}@{'-'.join(map(str, values.values()))}", matrix=None, cell=cell)

    def inputs_of(self, settings: Settings) -> Paths:
        """Return the declared inputs under these settings."""
        declared = self.inputs(settings) if callable(self.inputs) else self.inputs
        return tuple(name.format(**self.cell.values) for name in declared) if self.cell else declared

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
        """The files and package folders of first-party code that the step depends on, as absolute paths."""
        return code_closure(Path(self.run.__code__.co_filename))
