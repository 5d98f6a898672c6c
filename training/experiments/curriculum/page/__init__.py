"""A curriculum as a section of the HTML report and as a page of its own."""
