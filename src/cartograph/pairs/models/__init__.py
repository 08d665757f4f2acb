"""Models of pairs: cosine models over several embedders, their calibration and training."""
