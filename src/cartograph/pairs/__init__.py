"""Adaptive data collection for pairwise tasks with one positive in many thousands: Mussmann, Jia & Liang 2020 (Findings of EMNLP).

A task is texts and stated pairs of them; a split's space is *all* its pairs, far too many to enumerate. ``candidates`` finds the pairs
worth looking at, ``choose`` picks a round's batch among them, ``estimate`` scores a model over all pairs.
"""
