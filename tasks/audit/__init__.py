"""The steps of an audit: one module each, named like its section in params.yaml."""
