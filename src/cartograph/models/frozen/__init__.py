"""Encoders that are only read: vectors of texts and images, made once and kept."""
