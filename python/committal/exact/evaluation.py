r"""What policies of a finite MDP are worth, exactly.

For a stochastic policy :math:`\pi(a|s)`, with :math:`P_\pi(s'|s) = \sum_a \pi(a|s) P(s'|s,a)` and
:math:`R_\pi(s) = \sum_a \pi(a|s) R(s,a)`,

.. math:: (I - \gamma P_\pi) V = R_\pi, \qquad Q(s,a) = R(s,a) + \gamma \sum_{s'} P(s'|s,a) V(s'),
          \qquad (I - \gamma P_\pi)^T d = \rho,

are solved by elimination in an order that keeps the factors sparse, found once per MDP. The
number :math:`d(s) = \sum_t \gamma^t P(s_t = s)` is the discounted state distribution, not
normalised, and the probability of reaching each goal within the limit comes from stepping the
distribution of states forward. Terminal states have value 0.

The optimum is found by policy iteration: evaluate, act greedily, until nothing gets better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from committal import _core
from committal.config import Gridworld, TabularMDP
from committal.config.drawing import drawn
from committal.config.estimators import SOLVERS
from committal.config.transitions import numeric
from committal.errors import ConfigError
from committal.lowering.mdp import lower_model
from committal.support import check, html, limits
from committal.support.machine import isa_of, threads_of

__all__ = ["Evaluation", "evaluate", "optimal"]

Floats = npt.NDArray[np.float64]

# What a notebook shows: so many rows of tables, and what takes about so many operations at most.
_MOST_ROWS = 20
_MOST_STEPPED = 10**7


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Values of one policy, or of many: arrays begin with the leading axes of `policy`.

    Attributes
    ----------
    mdp : TabularMDP
    policy : float64[..., S, A]
        Not a copy where it could be avoided: leave it as it is while this object is used.
    V : float64[..., S]
        V(s), 0 in terminal states.
    sweeps : int64[...] or None
        How many sweeps the iterative method needed; None if it was solved directly.
    threads : int
        For what is computed on first use.
    isa : str
        The instruction set, likewise.
    """

    mdp: TabularMDP
    policy: Floats
    V: Floats
    sweeps: npt.NDArray[np.int64] | None = None
    threads: int = 1
    isa: str = "auto"

    @property
    def value(self) -> Floats:
        """J = sum_s rho(s) V(s), by policy.

        Examples
        --------
        >>> from committal.config import gridworld
        >>> print(round(float(optimal(gridworld("S.A", goals={"A": 1})).value), 4))
        0.9801
        """
        return np.asarray(self.V @ self.mdp.start_distribution)

    @cached_property
    def Q(self) -> Floats:  # noqa: N802
        """Q(s, a) = R(s, a) + gamma sum_s' P(s'|s, a) V(s'); 0 in terminal states.

        Examples
        --------
        >>> from committal.config import gridworld
        >>> print(optimal(gridworld("S.A", goals={"A": 1}, gamma=0.5)).Q[0])
        [0.125 0.25  0.125 0.125]
        """
        q = _model(self.mdp).q_values(
            self.V.reshape(-1, self.V.shape[-1]), threads=self.threads, isa=self.isa
        )
        return q.reshape(self.policy.shape)

    @cached_property
    def advantage(self) -> Floats:
        """Q(s, a) - V(s).

        Examples
        --------
        >>> from committal.config import gridworld
        >>> print(evaluate(gridworld("SA", goals={"A": 1}, gamma=0.5)).advantage[0].round(6))
        [-0.1  0.3 -0.1 -0.1]
        """
        return self.Q - self.V[..., None]

    @cached_property
    def state_distribution(self) -> Floats:
        """d(s) = sum_t gamma^t P(s_t = s) of the states acted in; 0 in terminal states.

        Examples
        --------
        >>> from committal.config import gridworld
        >>> optimal(gridworld("S.A", goals={"A": 1}, gamma=0.5)).state_distribution
        array([1. , 0.5, 0. ])
        """
        d = _model(self.mdp).state_distribution(
            self._batch, self.mdp.start_distribution, threads=self.threads, isa=self.isa
        )
        return d.reshape(self.V.shape)

    @cached_property
    def goal_probability(self) -> Floats:
        """The probability of reaching each terminal state within the limit of the MDP.

        Examples
        --------
        >>> from committal.config import gridworld
        >>> grid = gridworld("A.S..B", goals={"A": 0.5, "B": 1}, limit=2)
        >>> print(evaluate(grid).goal_probability)
        [0.0625 0.    ]
        """
        p = _model(self.mdp).goal_probability(
            self._batch,
            self.mdp.start_distribution,
            self.mdp.limit,
            threads=self.threads,
            isa=self.isa,
        )
        return p.reshape(*self.policy.shape[:-2], len(self.mdp.terminal))

    def _repr_html_(self) -> str:
        return html.page("Evaluation", *self._in_page())

    def _in_page(self) -> Iterator[html.Html]:
        """Yield what a notebook shows: the value, where episodes end, and the values."""
        one, mdp = self.policy.ndim == 2, self.mdp
        shown: dict[str, object] = {"MDP": f"{mdp.n_states} states, {mdp.n_actions} actions"}
        if one:
            shown["value"] = f"{float(self.value):.6g}"
        else:
            shown["policies"] = " × ".join(map(str, self.policy.shape[:-2]))
            if self.V.size:
                low, high = float(self.value.min()), float(self.value.max())
                shown["values"] = f"{low:.6g} … {high:.6g}"
        if self.sweeps is not None and self.sweeps.size:
            shown["sweeps"] = int(self.sweeps.max())
        yield html.facts(shown)
        if not one:
            return
        # Stepping a large MDP to a late limit takes a while; then it is shown if it is known.
        if "goal_probability" in self.__dict__ or mdp.n_states * mdp.limit <= _MOST_STEPPED:
            goals = zip(mdp.goals[:_MOST_ROWS], self.goal_probability.tolist(), strict=False)
            rows = [(goal, f"{p:.4g}") for goal, p in goals]
            if rows:
                yield html.table(rows, ("terminal state", "probability within the limit"))
        drawing = drawn(mdp, self.V, self.policy) if isinstance(mdp, Gridworld) else None
        if drawing is not None:
            acting = self.V[~mdp.is_terminal]
            yield drawing
            yield html.escaped(f"V from {acting.min():.4g} (dark) to {acting.max():.4g} (yellow)")
            return
        best = zip(mdp.states[:_MOST_ROWS], self.V.tolist(), strict=False)
        more = [("…", "")] if mdp.n_states > _MOST_ROWS else []
        table = html.table([*((s, f"{v:.6g}") for s, v in best), *more], ("state", "V"))
        yield html.folded("values of states", table)

    @property
    def _batch(self) -> Floats:
        return self.policy.reshape(-1, *self.policy.shape[-2:])


def evaluate(
    mdp: TabularMDP,
    policy: npt.ArrayLike | None = None,
    *,
    method: str = "direct",
    tolerance: float = 1e-3,
    threads: int | None = None,
    isa: str = "auto",
) -> Evaluation:
    r"""V = (I - gamma P_pi)^-1 R_pi and Q = R + gamma P V, of one policy or of many.

    Parameters
    ----------
    mdp : TabularMDP
    policy : array_like, optional
        pi(a|s) of shape [S, A], or [..., S, A] for many policies at once, such as the
        ``policy`` of a result; None, or ``"uniform"``, for the uniform policy. Rows of terminal
        states are not read.
    method : {"direct", "iterative"}, optional
        Solve the equations, or sweep over the states (Gauss-Seidel, from 0) until no value
        changes by `tolerance`. The remaining error is then at most gamma / (1 - gamma) times as
        large.
    tolerance : float, optional
        Of the iterative method.
    threads : int, optional
        All cores that the process may use by default; it changes no bit of the result.
    isa : {"auto", "generic", "avx2", "avx512"}, optional
        Instruction set of the kernels, the best that the machine has by default; it changes no
        bit either.

    Returns
    -------
    Evaluation
        `V`, `Q`, `advantage`, `value`, `state_distribution`, `goal_probability`.

    Examples
    --------
    >>> import committal as cm
    >>> rooms = cm.maps.four_rooms()
    >>> found = cm.evaluate(rooms)
    >>> print(round(float(found.value), 4), found.goal_probability.round(3))
    0.1466 [0.162 0.161 0.031]
    >>> print(cm.evaluate(rooms, np.full((10, 53, 4), 0.25)).V.shape)
    (10, 53)
    """
    _check_mdp(mdp)
    check.choice("method", method, SOLVERS)
    tolerance = check.number("tolerance", tolerance, check.POSITIVE)
    threads = threads_of("threads", threads)
    isa = isa_of("isa", isa)
    pi = _policies(mdp, policy)
    batch = pi.reshape(-1, *pi.shape[-2:])
    model = _model(mdp)
    sweeps = None
    try:
        if method == "direct":
            V = model.evaluate(batch, threads=threads, isa=isa)
        else:
            V, counts = model.evaluate_iterative(batch, tolerance, threads=threads, isa=isa)
            sweeps = counts.reshape(pi.shape[:-2])
    except ValueError:
        # The core checks the probabilities while it reads them; here they only get their names.
        _refuse_wrong_rows(mdp, pi)
        raise
    return Evaluation(mdp, pi, V.reshape(pi.shape[:-1]), sweeps, threads, isa)


def optimal(mdp: TabularMDP) -> Evaluation:
    """V*(s) = max_a Q*(s, a): the best policy, and its values, by policy iteration.

    Parameters
    ----------
    mdp : TabularMDP

    Returns
    -------
    Evaluation
        Of a deterministic policy that is optimal in every state, as zeros and ones (terminal
        states have the uniform policy, which nobody follows).

    Examples
    --------
    >>> import committal as cm
    >>> print(round(float(cm.optimal(cm.maps.four_rooms()).value), 4))
    0.8687
    """
    _check_mdp(mdp)
    choice = evaluate(mdp, threads=1).Q.argmax(axis=-1)
    found = evaluate(mdp, _deterministic(mdp, choice), threads=1)
    seen = {choice.tobytes()}
    while True:
        # A tie keeps its action.
        current = np.take_along_axis(found.Q, choice[:, None], axis=-1)[:, 0]
        improved = np.where(found.Q.max(axis=-1) > current, found.Q.argmax(axis=-1), choice)
        # In the end rounding decides what is greedy: policies that come round again, or values
        # that no longer grow, are the signs.
        if improved.tobytes() in seen:
            return found
        seen.add(improved.tobytes())
        better = evaluate(mdp, _deterministic(mdp, improved), threads=1)
        if not np.any(better.V > found.V):
            return found
        found, choice = better, improved


def _deterministic(mdp: TabularMDP, choice: npt.NDArray[np.intp]) -> Floats:
    policy = np.eye(mdp.n_actions)[choice]
    policy[mdp.is_terminal] = 1.0 / mdp.n_actions
    return policy


@lru_cache(maxsize=8)
def _model(mdp: TabularMDP) -> _core.MdpModel:
    """Prepare an MDP: the order of elimination is found once for all policies."""
    return _core.MdpModel(**lower_model(mdp))


def _check_mdp(mdp: object) -> None:
    check.instance("mdp", mdp, TabularMDP, "a TabularMDP, such as a gridworld")


def _policies(mdp: TabularMDP, policy: Any) -> Floats:
    shape = (mdp.n_states, mdp.n_actions)
    if policy is None or (isinstance(policy, str) and policy == "uniform"):
        return np.full(shape, 1.0 / mdp.n_actions)
    allowed = f"probabilities of shape {shape}, or [..., {shape[0]}, {shape[1]}]"
    given = policy if isinstance(policy, list | tuple | str) else np.asarray(policy)
    pi = np.ascontiguousarray(numeric("policy", given, allowed))
    if pi.shape[-2:] != shape:
        raise ConfigError("policy", policy, f"{allowed}; the shape is {pi.shape}")
    return pi


def _refuse_wrong_rows(mdp: TabularMDP, pi: Floats) -> None:
    """Name the first state whose row is not a law. The core has noticed one while solving."""
    sums = pi.sum(axis=-1)
    good = np.all(pi >= 0.0, axis=-1) & (np.abs(sums - 1.0) <= limits.POLICY_SUM)
    wrong = np.argwhere(~good & ~mdp.is_terminal)
    if len(wrong):
        where = tuple(wrong[0].tolist())
        text = f"probabilities of the actions that sum to 1 (the sum is {sums[where]:.12g})"
        raise ConfigError(f"policy[{', '.join(map(str, where))}]", pi[where], text)
