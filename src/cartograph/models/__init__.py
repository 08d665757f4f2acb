"""The models that a data map can be made with: one module each."""
