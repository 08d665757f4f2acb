"""Audit labelled datasets: training dynamics, data maps, label errors, selections, filters. Arrays and tables in, the same out.

The names in ``__all__`` are the public interface. Each is loaded when it is first used, so that ``import cartograph`` costs nothing. All
other modules may move from one version to the next.
"""

from __future__ import annotations

TYPE_CHECKING = False  # true for type checkers; the module `typing` alone would be most of the time that this import takes
if TYPE_CHECKING:
    from cartograph.adversarial_filter.algorithm import aflite
    from cartograph.dynamics.callback import DynamicsCallback
    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.dynamics.recorder import DynamicsRecorder
    from cartograph.errors import InputError
    from cartograph.figures.interactive_map import interactive_map
    from cartograph.figures.still_map import data_map
    from cartograph.frames.audit import audit
    from cartograph.frames.recorded import from_dynamics
    from cartograph.maps.measures import compute_measures
    from cartograph.maps.regions import assign_regions
    from cartograph.maps.table import map_table
    from cartograph.selection.rows import select
    from cartograph.statistics.metrics import average_precision
    from cartograph.suspects.ranking import find_suspects, out_of_fold_probabilities

    __version__: str

__all__ = [
    "DynamicsCallback",
    "DynamicsRecorder",
    "InputError",
    "__version__",
    "aflite",
    "assign_regions",
    "audit",
    "average_precision",
    "compute_measures",
    "data_map",
    "find_suspects",
    "from_dynamics",
    "interactive_map",
    "map_table",
    "out_of_fold_probabilities",
    "read_dynamics",
    "select",
]

_MODULES = {
    "DynamicsCallback": "dynamics.callback",
    "DynamicsRecorder": "dynamics.recorder",
    "InputError": "errors",
    "aflite": "adversarial_filter.algorithm",
    "assign_regions": "maps.regions",
    "audit": "frames.audit",
    "average_precision": "statistics.metrics",
    "compute_measures": "maps.measures",
    "data_map": "figures.still_map",
    "find_suspects": "suspects.ranking",
    "from_dynamics": "frames.recorded",
    "interactive_map": "figures.interactive_map",
    "map_table": "maps.table",
    "out_of_fold_probabilities": "suspects.ranking",
    "read_dynamics": "dynamics.epoch_files",
    "select": "selection.rows",
}

if not TYPE_CHECKING:  # a type checker that sees it takes any name for known

    def __getattr__(name: str) -> object:
        """Load a public name at its first use."""
        if name in _MODULES:
            from importlib import import_module

            value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        elif name == "__version__":
            value = _installed_version()
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its public names are {', '.join(__all__)}.")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return what the module has, public names that were not used yet included."""
    return sorted({*globals(), *__all__})


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cartograph")
    except PackageNotFoundError:
        # A checkout on the path of a machine where nothing was installed.
        return "0+unknown"
