"""The laws of the rewards of a bandit: quantiles, atoms, variances."""

from __future__ import annotations

from statistics import NormalDist

from committal.config.bandit import Bandit
from committal.errors import ConfigError
from committal.reference.streams import draw_outcome

__all__ = ["draw_reward", "reward_table", "reward_variance"]


def draw_reward(problem: Bandit, a: int, v: float) -> float:
    """The reward of arm a at quantile v of its law.

    Examples
    --------
    >>> import committal as cm
    >>> draw_reward(cm.Bandit([0.2, 0.8], noise="bernoulli"), 1, 0.75)
    1.0
    """
    r = problem.means[a]
    if problem.sigma is not None:
        # v is a multiple of 2^-52: half a step up keeps it inside (0, 1).
        return r + problem.sigma[a] * NormalDist().inv_cdf(v + 2.0**-53)
    if problem.half_width is not None:
        return r + problem.half_width[a] * (2.0 * v - 1.0)
    values, probabilities = zip(*reward_table(problem, a), strict=True)
    return float(values[draw_outcome(probabilities, v)])


def reward_table(problem: Bandit, a: int) -> list[tuple[float, float]]:
    """The atoms (value, probability) of the reward of arm a.

    Examples
    --------
    >>> import committal as cm
    >>> reward_table(cm.Bandit([0.25, 0.75], noise="bernoulli"), 0)
    [(1.0, 0.25), (0.0, 0.75)]
    """
    r = problem.means[a]
    if problem.noise is None:
        return [(r, 1.0)]
    if problem.noise == "bernoulli":
        return [(1.0, r), (0.0, 1.0 - r)]
    if problem.table is not None:
        return list(problem.table[a])
    allowed = "None, 'bernoulli' or 'table': other rewards have no finite table of values"
    raise ConfigError("Bandit.noise", problem.noise, allowed)


def reward_variance(problem: Bandit, a: int) -> float:
    """Var[R | a].

    Examples
    --------
    >>> import committal as cm
    >>> reward_variance(cm.Bandit([0.25, 0.75], noise="bernoulli"), 0)
    0.1875
    """
    if problem.sigma is not None:
        return problem.sigma[a] ** 2
    if problem.half_width is not None:
        return problem.half_width[a] ** 2 / 3.0
    r = problem.means[a]
    return sum(probability * (value - r) ** 2 for value, probability in reward_table(problem, a))
