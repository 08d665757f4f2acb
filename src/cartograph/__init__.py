"""Auditing labelled datasets: training dynamics, data maps, label errors. Arrays and tables in, the same out."""
