"""The tables and figures of the papers, made again."""
