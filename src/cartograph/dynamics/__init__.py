"""Training dynamics: the recorder, its epoch files, the reference's format, and imported dynamics."""
