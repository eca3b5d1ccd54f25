"""Every claim of the paper that can be computed, computed.

The table and what a claim is are in `table`; the claims themselves register there, those about
one update from `variance`, those about where learning ends from `convergence`.
"""

from committal.theory.checks import convergence as convergence
from committal.theory.checks import variance as variance
