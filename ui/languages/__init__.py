"""The page Languages: what the same content costs in each language, under each tokenizer."""
