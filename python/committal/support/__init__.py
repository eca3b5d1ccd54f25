"""What every room uses and no room owns: the machine, progress, text, files, checks."""
