"""The report page of a collection of pairs."""
