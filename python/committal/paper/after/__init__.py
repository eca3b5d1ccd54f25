"""What came after the paper, one module per result: settings on top, then compute, judge and draw.

Every module has a tuple `FIGURES`; what is in the folder is found.
"""
