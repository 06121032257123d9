"""The page Compare: one text under many tokenizers, on one axis."""
