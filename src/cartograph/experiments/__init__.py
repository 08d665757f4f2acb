"""Experiments with data maps, each by its name: one module each."""
