"""What an audit found, back in the database or the lake that the rows come from."""
