"""A whole audit in memory, of a data frame, a file or recorded dynamics: without steps or drivers."""
