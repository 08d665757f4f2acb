"""AFLite: filter out of a dataset what a simple model can guess from given features."""

from cartograph.aflite.algorithm import aflite
from cartograph.aflite.result import Filtered, Result, Round, hardest_first
from cartograph.aflite.slices import VARIANTS, Variant

__all__ = ["VARIANTS", "Filtered", "Result", "Round", "Variant", "aflite", "hardest_first"]
