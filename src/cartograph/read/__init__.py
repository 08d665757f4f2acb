"""Files of any format, read as batches of raw columns: one reader per format."""
