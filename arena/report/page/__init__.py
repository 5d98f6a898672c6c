"""The parts of the HTML report, as markup made from a summary."""
