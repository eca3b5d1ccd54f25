"""The environment that `to_gymnasium` offers; importing this file imports Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from committal.config import TabularMDP

__all__ = ["MdpEnv"]


class MdpEnv(gymnasium.Env[int, int]):
    """A `TabularMDP`, one step at a time; see :func:`committal.to_gymnasium`.

    Parameters
    ----------
    mdp : TabularMDP

    Examples
    --------
    >>> from committal.config import gridworld
    >>> MdpEnv(gridworld("S.A", goals={"A": 1})).observation_space
    Discrete(3)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as the base class has it

    def __init__(self, mdp: TabularMDP) -> None:
        self.mdp = mdp
        # Gymnasium declares spaces of numpy integers, which is what it samples.
        self.observation_space: Any = spaces.Discrete(mdp.n_states)
        self.action_space: Any = spaces.Discrete(mdp.n_actions)
        self.initial_state_distrib = mdp.start_distribution
        self._state: int | None = None
        self._steps = 0

    @property
    def P(self) -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:  # noqa: N802
        """The transitions as (probability, next state, reward, terminated), by state and action."""
        mdp = self.mdp
        ended = set(mdp.terminal)
        offsets = mdp.row_offsets.tolist()
        outcomes = [
            (p, after, r, after in ended)
            for p, after, r in zip(
                mdp.probability.tolist(), mdp.next_state.tolist(), mdp.reward.tolist(), strict=True
            )
        ]
        table = {}
        for s in range(mdp.n_states):
            first = s * mdp.n_actions
            table[s] = {
                a: [(1.0, s, 0.0, True)]
                if s in ended
                else outcomes[offsets[first + a] : offsets[first + a + 1]]
                for a in range(mdp.n_actions)
            }
        return table

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed, options=options)
        self._state = self._drawn(self.initial_state_distrib)
        self._steps = 0
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Take an action: the next state, its reward, whether it ended, whether it was cut."""
        if self._state is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        if not self.action_space.contains(action):
            raise gymnasium.error.InvalidAction(f"{action!r} is not in {self.action_space}")
        mdp = self.mdp
        pair = self._state * mdp.n_actions + int(action)
        own = slice(int(mdp.row_offsets[pair]), int(mdp.row_offsets[pair + 1]))
        drawn = own.start + self._drawn(mdp.probability[own])
        state = int(mdp.next_state[drawn])
        self._steps += 1
        terminated = state in mdp.terminal
        truncated = not terminated and self._steps >= mdp.limit
        # After the end there is no state to act in.
        self._state = None if terminated or truncated else state
        return state, float(mdp.reward[drawn]), terminated, truncated, {}

    def _drawn(self, probabilities: np.ndarray[Any, np.dtype[np.float64]]) -> int:
        cumulative = np.cumsum(probabilities)
        u = self.np_random.random() * cumulative[-1]
        return int(np.searchsorted(cumulative, u, side="right"))
