r"""What happens near a vertex of the simplex, where one arm k is almost certain.

Natural updates draw arm k again and again, and each draw moves :math:`\theta_k` by
:math:`\alpha (R - b) / \pi_k`. Whether the run stays is a matter of the sign of
:math:`s_k = r_k - b` at the vertex. Let :math:`\varepsilon = 1 - \pi_k`.

* :math:`s_k > 0`: the vertex *attracts*. :math:`\varepsilon` decays geometrically, so the chance
  that another arm is ever drawn again is about :math:`\varepsilon / (1 - e^{-\alpha s_k})`.
* :math:`s_k < 0`: it *repels*. From any depth the run comes back at constant speed.
* :math:`s_k = 0`, that is, :math:`s_k = O(\varepsilon)`: :math:`1/\varepsilon` moves by a bounded
  amount per update, so :math:`\sum \varepsilon` diverges and the other arms are drawn again and
  again. A better arm is then raised by :math:`\alpha (r_j - r_k)/\pi_j`, which ends the visit: the
  vertex *releases* the run. A worse one is pushed down further: the vertex of the best arm
  *holds* it.

With more than two arms b, and so the sign, may depend on the direction in which the vertex is
approached: on the *shares* :math:`q_i = \pi_i / \varepsilon` of the other arms.
"""

from __future__ import annotations

import numpy as np

from committal.config import Baseline
from committal.support.simplex import Floats

#: |r_k - b| below this times the scale of the rewards is rounding: the vertex is borderline.
BORDERLINE = 1e-12


def pull(baseline: Baseline, arm: int, shares: Floats, r: Floats) -> Floats:
    r"""s_k = r_k - b at the vertex, (...), exactly 0 where only rounding is left.

    Examples
    --------
    >>> import committal as cm
    >>> r, shares = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    >>> [float(pull(cm.MinVariance() + c, 1, shares, r)) for c in (-1.5, -1.0, 0.0)]
    [0.5, 0.0, -1.0]
    """
    s = r[arm] - baseline.at_vertex(arm, shares, r)
    scale = 1.0 + np.abs(r).max()
    return np.asarray(np.where(np.abs(s) <= BORDERLINE * scale, 0.0, s))


def kind(s: float, better_elsewhere: bool) -> str:
    """Name what a vertex does, from its pull and whether another arm is better.

    Examples
    --------
    >>> kind(0.5, True), kind(-0.5, True), kind(0.0, True), kind(0.0, False)
    ('attracts', 'repels', 'releases', 'holds')
    """
    if s != 0.0:
        return "attracts" if s > 0.0 else "repels"
    return "releases" if better_elsewhere else "holds"


def two_arm_kinds(baseline: Baseline, r: Floats) -> tuple[str, str]:
    """What the two ends of a two-armed bandit do to natural policy gradient, by arm.

    Examples
    --------
    >>> import committal as cm
    >>> two_arm_kinds(cm.MinVariance() - 1.5, np.array([1.0, 0.0]))
    ('attracts', 'attracts')
    >>> two_arm_kinds(cm.MinVariance() - 1.0, np.array([1.0, 0.0]))
    ('attracts', 'releases')
    """
    first, second = (
        kind(float(pull(baseline, arm, np.eye(2)[1 - arm], r)), bool(r[1 - arm] > r[arm]))
        for arm in (0, 1)
    )
    return first, second
