"""Doors to other packages: Gymnasium environments, files of other formats."""
