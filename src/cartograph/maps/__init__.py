"""From training dynamics to measures, regions, stability, distance and human agreement."""
