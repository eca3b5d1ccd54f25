"""A user's own mathematics as data: trees, traced from a function or read from text."""
