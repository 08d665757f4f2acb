"""The steps of an audit and of a collection of pairs, and what runs them."""
