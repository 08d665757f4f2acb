"""The training loop: recipe, batch order, checkpoints, processes, folds and inference."""
