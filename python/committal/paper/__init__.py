"""The paper, reproduced: every figure and every claim, and what came after it.

``committal reproduce`` on the command line, or

>>> from committal import paper
>>> for entry in paper.reproduce(["fig1", "figA3"], out="paper/"):  # doctest: +SKIP
...     print(paper.table([entry]))

`figures/` has one module per family of figures: settings as data, what is computed from them, and
how that is judged and drawn; `after/` has one module per result that came after the paper, in the
same form. What they share stands here: `figure` says what a figure consists of,
`bandit_figure` and `maze_figure` are the two kinds that the paper has most of, `result` those of
what came after it, `lab` runs and keeps results, `verdicts` compares numbers with claims, `runner`
makes everything and `report` writes it down.
"""

from committal.paper.entry import *
from committal.paper.lab import *
from committal.paper.registry import *
from committal.paper.report import *
from committal.paper.runner import *
from committal.paper.summary import *
from committal.paper.verdicts import *
