"""The models of pairs by name, known without loading torch."""

COSINE_MODELS = {
    "cosine-bow": "vectors of n-grams, summed and trained; seconds on a CPU",
    "cosine-frozen": "a pretrained encoder's vectors, made once, and a linear map of them that is trained",
    "cosine-bert": "a pretrained encoder, fine-tuned (CosineBERT)",
}
