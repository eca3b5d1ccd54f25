"""When enough is known: how narrow an interval is to become before a study stops."""

from __future__ import annotations

from committal.config.base import Config, config
from committal.config.quantities import MDP_RECORDABLE, RECORDABLE
from committal.errors import ConfigError
from committal.support import check

__all__ = ["Precision"]

#: The rate of runs that failed, where other names are recorded quantities.
FAILURE = "failure"


@config
class Precision(Config):
    """Add runs until the interval of a quantity is narrow: high − low ≤ 2·half_width.

    Parameters
    ----------
    quantity
        ``"failure"``, the rate of runs whose final value is less than `below`; or a recorded
        quantity with one number per time and known bounds, such as ``"value"``, whose mean at
        the last time is meant.
    half_width
        A number > 0.
    confidence
        Probability, in (0, 1), that the sequence of intervals of a configuration covers at all
        times.
    relative
        Whether `half_width` is a fraction of the estimate. An estimate of zero is then never
        precise enough.
    below
        What a failure is; reduced records know it already.

    Examples
    --------
    >>> Precision("failure", half_width=0.002, below=0.9)
    Precision('failure', half_width=0.002, below=0.9)
    """

    quantity: str
    half_width: float
    confidence: float
    relative: bool
    below: float | None

    _positional = 1

    def __init__(
        self,
        quantity: str,
        half_width: check.Number,
        confidence: check.Number = 0.95,
        relative: bool = False,
        below: check.Number | None = None,
    ) -> None:
        known = dict.fromkeys((FAILURE, *RECORDABLE, *MDP_RECORDABLE))
        quantity = check.choice("Precision.quantity", quantity, tuple(known))
        if not isinstance(relative, bool):
            raise ConfigError("Precision.relative", relative, "True or False")
        if below is not None:
            if quantity != FAILURE:
                raise ConfigError("Precision.below", below, "None unless quantity='failure'")
            below = check.number("Precision.below", below)
        self._set(
            quantity=quantity,
            half_width=check.number("Precision.half_width", half_width, check.POSITIVE),
            confidence=check.number("Precision.confidence", confidence, check.UNIT_INSIDE),
            relative=relative,
            below=below,
        )

    def width_for(self, estimate: float) -> float:
        """Return the half width to reach, given an estimate.

        Examples
        --------
        >>> Precision("value", 0.1, relative=True).width_for(-0.5)
        0.05
        """
        estimate = check.number("estimate", estimate)
        return self.half_width * abs(estimate) if self.relative else self.half_width
