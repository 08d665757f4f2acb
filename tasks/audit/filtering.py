"""Whether an audit filters its rows with AFLite, and what that needs."""

from __future__ import annotations

from cartograph.config import Settings
from tasks.audit.parameters.aflite import Aflite
from tasks.audit.parameters.bias import Bias
from tasks.audit.parameters.features import Features
from tasks.audit.parameters.train import Train


def is_filtered(settings: Settings) -> bool:
    """Return whether an audit filters its rows with AFLite."""
    aflite = settings.find(Aflite)
    return aflite is not None and aflite.enabled


def measures_bias(settings: Settings) -> bool:
    """Return whether an audit measures what gives labels away, before the filter and after."""
    bias = settings.find(Bias)
    return is_filtered(settings) and bias is not None and bias.enabled


def features_need_encoder(settings: Settings) -> bool:
    """Return whether the features to filter by come from the vectors of the step `embed`."""
    features = settings.find(Features)
    if features is None or not is_filtered(settings):
        return False
    finetunes_probe = features.source == "finetuned" and (features.model or settings.of(Train).model) == "probe"
    return features.source == "frozen" or finetunes_probe
