"""MLflow: runs, models and datasets of an audit."""
