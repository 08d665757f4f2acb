"""Which rows of a train set are worth training on: one strategy per module."""
