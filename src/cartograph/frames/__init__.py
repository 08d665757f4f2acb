"""A whole audit of a data frame in memory, without files, steps or drivers."""
