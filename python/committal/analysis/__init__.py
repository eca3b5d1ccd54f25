"""Answers from results: rates, means, times and slopes, and how well they are known.

Every function takes a dataset of one experiment or of a whole study and returns a dataset with the
variables `estimate`, `low` and `high`, one for each configuration. :func:`failure_rate` is the
exception: it answers for one experiment and prints.
"""

from committal.analysis.curves import *
from committal.analysis.failures import *
from committal.analysis.paired import *
from committal.analysis.policies import *
from committal.analysis.quantiles import *
from committal.analysis.rates import *
from committal.analysis.slopes import *
from committal.analysis.survival import *
from committal.inference.intervals import *
