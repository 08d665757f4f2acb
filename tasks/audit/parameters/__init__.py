"""The sections of params.yaml that more than one step reads: one module each."""
