"""AFLite: filter out of a dataset what a simple model can guess from given features."""
