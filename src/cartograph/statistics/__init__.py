"""Metrics, intervals and agreement."""
