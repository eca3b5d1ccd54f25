r"""Answers without Monte-Carlo error, to stand beside the simulated ones.

* :func:`one_step_law` (or `one_step`): the finite law of one update, groups of samples included,
  its moments in theta or policy space, and the probability that it lowers the best arm's
  probability; for many policies at once.
* :func:`flow`, :func:`stationary`: where a rule leads on average, and the policies at which it
  stands still.
* :func:`corner`, :func:`critical_step_size`: what happens where one arm is nearly certain.
* :func:`gradient_variance`, :func:`gradient_moments`, :func:`baseline_quadratic`,
  :func:`minimum_variance_baseline`, :func:`value_identity`, :func:`log_variance_ratio`: what the
  baseline does to the variance.
* :func:`law_after`: the law of theta after a few updates.
* :func:`committal_probability`, :func:`committal_map`: where runs end, for two and three arms.
* :func:`expected_path`: where the expectation of a rule leads, update by update; of a plain rule
  the true gradient. :func:`gradient_flow`: the limit of that for small steps.

Examples
--------
>>> import committal as cm
>>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=200)
>>> round(cm.exact.committal_probability(exp), 4)
0.1277
"""

from committal.exact.absorption import *
from committal.exact.committal import *
from committal.exact.corners import *
from committal.exact.flow import *
from committal.exact.grid import *
from committal.exact.horizon import *
from committal.exact.law import *
from committal.exact.paths import *
from committal.exact.variance import *
