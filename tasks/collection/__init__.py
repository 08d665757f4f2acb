"""The steps of a collection of pairs: one module each, named like its section in params.yaml."""
