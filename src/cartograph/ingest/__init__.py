"""From raw rows to canonical tables: columns chosen, labels named, uids given, unusable rows set aside with a reason."""
