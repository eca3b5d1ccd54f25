"""Contexts: several bandits side by side, one of them in every episode."""

from __future__ import annotations

from collections.abc import Sequence

from committal.config.bandit import Bandit
from committal.config.mdp import TabularMDP
from committal.errors import ConfigError, ConfigTypeError

__all__ = ["contexts"]


def contexts(bandits: Sequence[Bandit]) -> TabularMDP:
    """B bandits as an MDP: a state for each, in which an episode begins and ends with one action.

    Every state has parameters of its own, so they learn nothing from one another. What they have in
    common is the batch: ``Group(samples=N, starts="each")`` draws N actions in each of them, with a
    centre for each and a scale of each or, ``scale="batch_std"``, of all; an optimiser such as
    ``ClipNorm`` sees the gradient of all.

    Parameters
    ----------
    bandits : sequence of Bandit
        With as many arms, and rewards of finitely many values.

    Returns
    -------
    TabularMDP
        States ``"0"``, ``"1"``, ... and ``"end"``; all bandits are equally probable.

    Examples
    --------
    >>> easy, hard = Bandit([0.9, 0.1], noise="bernoulli"), Bandit([0.3, 0.2], noise="bernoulli")
    >>> contexts([easy, hard]).states
    ('0', '1', 'end')
    """
    if isinstance(bandits, str | bytes) or not isinstance(bandits, Sequence):
        raise ConfigTypeError("bandits", bandits, "a list of Bandits")
    if not bandits:
        raise ConfigError("bandits", bandits, "one Bandit or more")
    rows: list[tuple[int, int, int, float, float]] = []
    for i, bandit in enumerate(bandits):
        argument = f"bandits[{i}]"
        if not isinstance(bandit, Bandit):
            raise ConfigTypeError(argument, bandit, "a Bandit")
        if bandit.arms != bandits[0].arms:
            allowed = f"{bandits[0].arms} arms, as the first of them has"
            raise ConfigError(argument, bandit, allowed)
        for arm, law in enumerate(_atoms(argument, bandit)):
            rows += [(i, arm, len(bandits), p, reward) for reward, p in law]
    start = [1.0 / len(bandits)] * len(bandits) + [0.0]
    names = [*map(str, range(len(bandits))), "end"]
    return TabularMDP(
        rows, gamma=0.0, start=start, terminal=[len(bandits)], limit=1,
        states=names, actions=bandits[0].names,
    )  # fmt: skip


def _atoms(argument: str, bandit: Bandit) -> list[list[tuple[float, float]]]:
    """(reward, probability) of every arm."""
    if bandit.noise is None:
        return [[(r, 1.0)] for r in bandit.means]
    if bandit.noise == "bernoulli":
        laws = [[(1.0, r), (0.0, 1.0 - r)] for r in bandit.means]
        return [[(x, p) for x, p in law if p > 0.0] for law in laws]
    if bandit.table is not None:
        return [list(law) for law in bandit.table]
    allowed = "None, 'bernoulli' or 'table': rewards of an MDP have finitely many values"
    raise ConfigError(f"{argument}.noise", bandit.noise, allowed)
