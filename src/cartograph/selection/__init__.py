"""Which rows of a train set are worth training on: strategies, and tables of the rows that they keep."""
