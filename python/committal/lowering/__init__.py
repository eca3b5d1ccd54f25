"""From an experiment, in words, to a plan, in numbers."""
