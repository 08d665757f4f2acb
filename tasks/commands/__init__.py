"""What a person types: init, review, prune, dvc-yaml."""
