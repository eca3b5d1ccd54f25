"""What cannot go together, as tables of rules: for bandits and for MDPs."""
