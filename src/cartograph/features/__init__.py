"""One vector per row, from words, pixels or files, and cheap linear models on them."""
