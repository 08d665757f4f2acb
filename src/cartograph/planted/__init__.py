"""The built-in datasets, whose errors are known because they were planted."""
