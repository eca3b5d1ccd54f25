r"""What theory says about policy gradient on bandits, as numbers.

* :func:`same_action_forever`: the infinite products, with rigorous tails;
  :func:`committal_rate`: how fast a forced arm becomes certain.
* :func:`proposition_1_bound`, :func:`gap_bound`, :func:`off_policy_bound`: the paper's bounds.
* :func:`two_arm_regime`: the regimes of Proposition 2, for any baseline.
* :func:`check_schedule`: Robbins–Monro, and whether exploration lasts.
* :func:`std_factor`, :func:`pass_at_k_factor`, :func:`pass_at_k_advantages`: groups of binary
  rewards; :func:`kl_recursion`, :func:`kl_fixed_points`: such groups with KL to a reference.
* :func:`regularised_policy`, :func:`off_policy_limit`: where rules end, in closed form.
* :func:`claims`: every claim of the paper, recomputed, with a verdict.

Examples
--------
>>> import committal as cm
>>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=200)
>>> round(float(cm.theory.same_action_forever(exp, arm=1)), 4)
0.0483
"""

from committal.theory.bounds import *
from committal.theory.checks.table import *
from committal.theory.forced import *
from committal.theory.forever import *
from committal.theory.groups import *
from committal.theory.limits import *
from committal.theory.regimes import *
from committal.theory.schedules import *
