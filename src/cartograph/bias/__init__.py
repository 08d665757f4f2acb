"""Measures of dataset bias: how much of a label can be told from too little, and how near held-out rows are to those trained on."""
