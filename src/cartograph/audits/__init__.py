"""One audit against another: its record, what changed, and the gates it must pass."""
