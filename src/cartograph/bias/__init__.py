"""Measures of dataset bias: how well a label can be predicted from too little, and how near held-out rows are to those trained on."""
