"""What makes the site: pages that are generated before Sphinx reads them, and its mathematics."""
