"""The parts of the page Vocabulary: controls, cached work, charts, the list of all tokens, views."""
