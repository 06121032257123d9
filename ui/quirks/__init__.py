"""The parts of the page Quirks; the token strips are used by the fact check too."""
