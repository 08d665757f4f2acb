"""What runs any step and knows none: declaration, workspace, fingerprint, receipt, console."""
