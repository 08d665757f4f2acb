"""Experiments with data maps, one module each."""
