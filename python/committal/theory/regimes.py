r"""What natural policy gradient does on two arms, by its baseline: the regimes of Proposition 2.

Everything is decided by what the two ends of the line do (see `committal.exact.vertices`). For
rewards 1 and 0 and :math:`b = b^* + \epsilon`:

=========================  ==========  ===========  ==============================================
:math:`\epsilon`           first arm   second arm   runs
=========================  ==========  ===========  ==============================================
:math:`< -1`               attracts    attracts     may end on the wrong arm
:math:`= -1`               attracts    releases     end on the best arm, after any length of time
:math:`(-1, 1)`            attracts    repels       end on the best arm
:math:`= 1`                holds       repels       end on the best arm
:math:`> 1`                repels      repels       end on no arm; only :math:`\sup\theta` grows
=========================  ==========  ===========  ==============================================

The paper leaves :math:`\epsilon = -1` open. Drawing the wrong arm moves
:math:`x = e^{-\theta}` to :math:`x e^{\alpha/x} \approx x + \alpha`, so :math:`1/p_t = 1 + x_t`
grows linearly and the right arm is missed for t updates with probability of order
:math:`(1 + \alpha t / x_0)^{-1/\alpha}`: this vanishes, so no run is stuck for ever. But a draw of
the wrong arm at :math:`\theta > 0` throws the run to :math:`x_0 \approx e^{\alpha e^\theta}`, and
then it takes about that many updates: what the simulation shows as stuck is released after longer
than anyone waits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committal.config import Experiment, Natural
from committal.errors import CombinationError
from committal.exact import dynamics, vertices

__all__ = ["Regime", "two_arm_regime"]


@dataclass(frozen=True, slots=True)
class Regime:
    """What the ends do, and what follows.

    Attributes
    ----------
    first, second : str
        "attracts", "repels", "holds" or "releases": what the end does where the first (second)
        arm is certain.
    outcome : str
        "may end on the wrong arm", "ends on the best arm", "ends on no arm", or
        "ends on the wrong arm or on none".
    """

    first: str
    second: str
    outcome: str


def two_arm_regime(experiment: Experiment) -> Regime:
    r"""The regime of natural policy gradient on two arms: Proposition 2 for any baseline.

    Parameters
    ----------
    experiment : Experiment
        Two arms with deterministic and different rewards, natural updates, on-policy.

    Returns
    -------
    Regime

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), steps=1)
    >>> for c in (-1.5, -1.0, 0.0, 1.0, 1.5):
    ...     print(c, two_arm_regime(e.replace(baseline=cm.MinVariance() + c)).outcome)
    -1.5 may end on the wrong arm
    -1.0 ends on the best arm
    0.0 ends on the best arm
    1.0 ends on the best arm
    1.5 ends on no arm
    """
    dynamics.bandit_of(experiment, formulas=True)
    experiment = dynamics.plain_form("experiment", experiment)
    problem = dynamics.bandit_of(experiment)
    r = np.array(problem.means)
    if problem.arms != 2 or r[0] == r[1] or any(problem.reward_variances):
        raise CombinationError(
            "experiment.problem", problem, "two arms with deterministic and different rewards"
        )
    if not isinstance(experiment.update, Natural):
        raise CombinationError("experiment.update", experiment.update, "Natural")
    behaviour = experiment.behaviour
    if behaviour.mixes != "policy" or behaviour.exploration != 0.0:
        raise CombinationError("experiment.behaviour", behaviour, "OnPolicy")
    dynamics.refuse_memory("experiment.baseline", experiment.baseline)
    kinds = vertices.two_arm_kinds(experiment.baseline, r)
    stays = [kind in ("attracts", "holds") for kind in kinds]
    best, wrong = stays[problem.best], stays[1 - problem.best]
    if best:
        outcome = "may end on the wrong arm" if wrong else "ends on the best arm"
    else:
        outcome = "ends on the wrong arm or on none" if wrong else "ends on no arm"
    return Regime(*kinds, outcome)
