"""Studies on disk: chunks that are written whole or not at all, and what describes them."""
