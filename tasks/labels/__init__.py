"""The steps of an audit whose rows have several labels that are its own; the others are those of ``tasks.audit``."""
