"""The matcher of pairs: candidates by blocking, features of a pair field by field, and boosted trees on top."""
