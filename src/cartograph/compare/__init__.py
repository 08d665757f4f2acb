"""Models trained on versions of a dataset, compared with intervals."""
