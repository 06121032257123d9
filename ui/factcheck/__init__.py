"""The parts of the page Fact check."""
