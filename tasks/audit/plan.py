"""What an audit does besides its map, and where that stands: selections, retrained models, experiments, the frozen encoder."""

from __future__ import annotations

from cartograph.config import Settings
from tasks.audit.filtering import features_need_encoder, is_filtered
from tasks.audit.held_out import holds_out
from tasks.audit.parameters.ablate import Ablate
from tasks.audit.parameters.bias import Bias
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.parameters.select import Select
from tasks.audit.parameters.train import Train
from tasks.audit.parameters.tune import Tune

FIRST_PAGE = "first_page"
"""The step that no other waits for."""

HELD_APART = "data/hold_out"
"""Where versions of the train set stand that were made without the rows held out."""

ACQUISITION_PREFIX = "AL-"
"""How the names of the strategies begin that ask a model trained on a random share."""


def selection_name(strategy: str, fraction: float) -> str:
    """Return what a selection is called: ``ambiguous-0.33``."""
    return f"{strategy}-{fraction:g}"


def selection_file(name: str) -> str:
    """Return where the rows of a selection stand, and those of the versions that the step `clean` makes."""
    return f"data/select/{name}.parquet"


def selections(settings: Settings) -> dict[str, tuple[str, float]]:
    """Return the strategy and the fraction of every selection of an audit by its name; empty where the audit selects nothing."""
    select = settings.find(Select)
    if select is None:
        return {}
    return {selection_name(strategy, fraction): (strategy, fraction) for strategy in select.strategies for fraction in select.fractions}


def chosen_selections(settings: Settings) -> tuple[str, ...]:
    """Return the names of the selections that are trained on: all that the step `select` makes, where ``retrain.selections`` is on."""
    retrain = settings.find(Retrain)
    return tuple(selections(settings)) if retrain is not None and retrain.selections else ()


def retrained_models(settings: Settings) -> dict[tuple[str, int], str]:
    """Return the folder of every retrained model by subset and seed.

    Empty where nothing is retrained: there is nothing to score a model on, no subset, or no seed.
    """
    retrain = settings.find(Retrain)
    if retrain is None or not (settings.of(Ingest).evaluation or holds_out(settings)):
        return {}
    subsets = (*retrain.subsets, *chosen_selections(settings))
    return {(subset, seed): f"data/retrain/{subset}-{seed}" for subset in subsets for seed in retrain.seeds}


def experiment_folders(settings: Settings) -> tuple[str, ...]:
    """Return where the answers of an audit's experiments stand."""
    ablate = settings.find(Ablate)
    return () if ablate is None else tuple(f"data/ablate/{name}" for name in ablate.experiments)


def searches_rate(settings: Settings) -> bool:
    """Return whether an audit searches for a learning rate."""
    tune = settings.find(Tune)
    return tune is not None and tune.trials > 0


def needs_encoder(settings: Settings) -> bool:
    """Return whether anything in an audit reads vectors of a frozen encoder."""
    train, bias = settings.find(Train), settings.find(Bias)
    trains_probe = train is not None and train.model == "probe" and (train.dynamics is None or trains_besides_map(settings))
    bias_trains_probe = is_filtered(settings) and bias is not None and "probe" in bias.models
    embed = settings.find(Embed)
    has_encoder = embed is not None and embed.pretrained is not None
    return has_encoder or trains_probe or bias_trains_probe or features_need_encoder(settings)


def trains_besides_map(settings: Settings) -> bool:
    """Return whether an audit trains by the section ``train`` for anything else than the map."""
    return searches_rate(settings) or _trains_after_map(settings)


def goes_on_after_suspects(settings: Settings) -> bool:
    """Return whether an audit has long steps, which train models or filter rows, that come after the map and the suspects."""
    return is_filtered(settings) or _trains_after_map(settings)


def _trains_after_map(settings: Settings) -> bool:
    acquires = any(strategy.startswith(ACQUISITION_PREFIX) for strategy, _ in selections(settings).values())
    return acquires or bool(retrained_models(settings) or experiment_folders(settings))
