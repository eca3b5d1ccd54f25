"""Statistics of numbers, without labels: intervals, confidence sequences, exact sums."""
