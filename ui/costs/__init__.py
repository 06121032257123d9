"""The parts of the page Costs: controls, cached work, charts, views."""
