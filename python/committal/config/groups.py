"""Groups: advantages of several samples of one update, relative to one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from committal.config.base import Config, config
from committal.config.estimators import Estimator, checked_weight
from committal.config.mdp import TabularMDP
from committal.config.weights import Weight
from committal.errors import ConfigError
from committal.support import check, limits

__all__ = ["Group"]

#: What is subtracted from the rewards of a group.
CENTRES = ("mean", "leave_one_out", "median", "weighted", "weighted_leave_one_out")
#: How a file says that there is none.
NO_CENTRE = "none"
#: What they are divided by.
SCALES = ("std", "batch_std")
#: Where the episodes of a group begin.
STARTS = ("drawn", "each")


def _checked_centre(centre: object) -> str | None:
    if centre is None or (isinstance(centre, str) and centre == NO_CENTRE):
        return None
    return check.choice("Group.centre", centre, CENTRES)


@config
class Group(Estimator):
    """A_i = (X_i - centre(X)) / scale(X) of N samples together, X_i = R_i - b.

    In MDPs a sample is an episode, R its return and A that of all its steps.

    The update is the mean over the samples of w A psi. A baseline of the experiment is subtracted
    first; where it is one number for all samples, a centre takes it out again. If all X are equal,
    A is exactly 0.

    Parameters
    ----------
    samples
        N, the size of the group.
    centre
        ``"mean"`` of all (GRPO), ``"leave_one_out"``, the mean of the others (RLOO), ``"median"``,
        ``"weighted"``, the mean with weights ||e_a - pi||^2 (OPO), the last also of the
        others only: ``"weighted_leave_one_out"``. None subtracts nothing.
    scale
        ``"std"`` divides by the standard deviation of X, ``"batch_std"`` by that of all samples of
        the update, which is another where there are several groups; None does not.
    ddof
        The standard deviation divides by N - ddof: 0 or 1. Only with a scale.
    eps
        Added to the standard deviation. Only with a scale.
    weight
        w, of the sample and its A; None for rho = pi(a) / mu(a).
    epochs
        How many updates are made of one group. A stays as it was, rho is the ratio to the policy
        that drew the samples.
    starts
        In MDPs: ``"drawn"``, where episodes begin is drawn, and all are one group; ``"each"``, N
        episodes begin in every start state, and are a group of their own. See
        :func:`committal.contexts`.

    Examples
    --------
    >>> Group(samples=4, centre="leave_one_out")
    Group(samples=4, centre='leave_one_out')
    >>> Group(samples=1)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: Group.samples = 1 is not allowed; expected 2 or more with \
centre='mean': one sample has no others; use centre=None, or OneSample with a baseline
    """

    samples: int
    centre: str | None
    scale: str | None
    ddof: int
    eps: float
    weight: Weight | None
    epochs: int
    starts: str

    def __init__(
        self,
        samples: check.Integer = 8,
        centre: str | None = "mean",
        scale: str | None = None,
        ddof: check.Integer = 0,
        eps: check.Number = 0.0,
        weight: Weight | None = None,
        epochs: check.Integer = 1,
        starts: str = "drawn",
    ) -> None:
        self._set(
            samples=check.integer("Group.samples", samples, 1, limits.SAMPLES),
            centre=_checked_centre(centre),
            scale=None if scale is None else check.choice("Group.scale", scale, SCALES),
            ddof=check.integer("Group.ddof", ddof, 0, 1),
            eps=check.number("Group.eps", eps, check.NON_NEGATIVE),
            weight=checked_weight("Group.weight", weight),
            epochs=check.integer("Group.epochs", epochs, 1, limits.EPOCHS),
            starts=check.choice("Group.starts", starts, STARTS),
        )
        if self.samples == 1 and self.centre is not None:
            raise ConfigError(
                "Group.samples",
                samples,
                f"2 or more with centre={centre!r}: one sample has no others; use centre=None, or "
                "OneSample with a baseline",
            )
        if self.samples == 1 and self.scale is not None:
            raise ConfigError(
                "Group.samples",
                samples,
                f"2 or more with scale={scale!r}: one sample has no spread; use scale=None",
            )

    core_name = "sampled"

    def episodes(self, mdp: TabularMDP) -> int:
        """How many episodes of an MDP one update draws.

        Examples
        --------
        >>> import committal as cm
        >>> Group(samples=4, starts="each").episodes(cm.contexts([cm.Bandit([1, 0])] * 3))
        12
        """
        starts = int(np.count_nonzero(mdp.start_distribution)) if self.starts == "each" else 1
        return self.samples * starts

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of plain values; no centre is written ``"none"``, the default of
        `starts` is left out.

        Examples
        --------
        >>> Group(centre=None).to_dict()["centre"]
        'none'
        """
        # What is None is left out of files, and would be read as the default.
        made = {**Config.to_dict(self), **({"centre": NO_CENTRE} if self.centre is None else {})}
        if self.starts == "drawn":  # an experiment of before it was there has the hash that it had
            del made["starts"]
        return made
