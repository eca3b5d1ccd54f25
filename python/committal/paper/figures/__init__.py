"""The figures of the paper, one module per family, each with a tuple `FIGURES`.

A module that is put here is found: nothing lists them.
"""
