r"""Regularisers: what is added to the gradient, whatever the rewards are.

With a strength :math:`\beta` they add :math:`-\beta` times the gradient of a divergence from a
reference, in the geometry of the update:

==============  ==================================================  ===========================
regulariser     vanilla                                             natural
==============  ==================================================  ===========================
`Entropy`       :math:`-\beta\pi(\log\pi + H)`                      :math:`-\beta\log\pi`
`KL`            :math:`-\beta\pi(\log(\pi/\mathrm{ref}) - KL)`      :math:`-\beta\log(\pi/ref)`
`ReverseKL`     :math:`\beta(\mathrm{ref} - \pi)`                   :math:`\beta(ref/\pi - 1)`
`LogBarrier`    :math:`\beta(1/K - \pi)`                            :math:`\beta(1/(K\pi) - 1)`
==============  ==================================================  ===========================

or, sample by sample, :math:`-\beta c_a\psi(a)` with a coefficient c (see `KL`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from committal.config.base import Config, config
from committal.config.schedules import Rate, Schedule, rate
from committal.errors import ConfigError
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["KL", "Entropy", "LogBarrier", "Regulariser", "ReverseKL"]

#: How the divergence of `KL` enters the gradient.
FORMS = ("exact", "k1", "k2", "k3", "reward")
#: References that have a name.
NAMED = ("start", "uniform")


class Regulariser(Config):
    """Base of the regularisers: texts of formulas to which the strength is a number.

    Each gives what it adds to the gradient, a vector over arms; what it adds to w A of a sample;
    and what it subtracts from a reward. Mostly two of them are empty.

    Examples
    --------
    >>> isinstance(Entropy(0.1), Regulariser)
    True
    """

    __slots__ = ()

    strength: float | Schedule

    def added(self, natural: bool, reference: Floats) -> str:
        """What is added to the gradient; empty for nothing."""
        del natural, reference
        return ""

    def slope(self, reference: Floats) -> str:
        """The derivative of what is maximised with respect to every pi_a; empty for nothing."""
        del reference
        return ""

    def per_sample(self, reference: Floats) -> str:
        """What is added to w A of every sample; empty for nothing."""
        del reference
        return ""

    def in_reward(self, reference: Floats) -> str:
        """What is subtracted from every reward; empty for nothing."""
        del reference
        return ""


@config
class Entropy(Regulariser):
    """strength times the gradient of the entropy H, the same as ``entropy=`` of an update.

    Parameters
    ----------
    strength
        tau >= 0, a number or, for bandits, a schedule.

    Examples
    --------
    >>> Entropy(0.2)
    Entropy(0.2)
    >>> Entropy(0.2).added(True, np.ones(2))
    '-0.2 * log(pi)'
    """

    strength: float | Schedule

    _positional = 1

    def __init__(self, strength: Rate) -> None:
        self._set(strength=rate("Entropy.strength", strength, check.NON_NEGATIVE))

    def added(self, natural: bool, reference: Floats) -> str:
        """-tau log pi, or -tau pi (log pi + H)."""
        del reference
        inner = "log(pi)" if natural else "pi * (log(pi) - sum(pi * log(pi)))"
        return f"-{self.strength!r} * {inner}"

    def slope(self, reference: Floats) -> str:
        """-tau log pi, and a constant."""
        return self.added(True, reference)


@config
class KL(Regulariser):
    """-strength times the gradient of KL(pi || reference), or what is sampled in its place.

    Parameters
    ----------
    reference
        Probabilities > 0, one per arm; ``"start"`` for the policy at the start, ``"uniform"``.
    strength
        beta >= 0.
    form
        ``"exact"`` is the gradient. The others use the drawn arms: -beta c_a psi(a) is added for
        every sample, as drawn and without rho, with c = 1 (``"k1"``: the gradient of log pi / ref,
        whose mean is 0), c = log(pi_a / ref_a) (``"k2"``: the gradient of its square / 2, whose
        mean on the policy is right) or c = 1 - ref_a / pi_a (``"k3"``, whose mean on the policy is
        that of `ReverseKL`). ``"reward"`` subtracts beta log(pi_a / ref_a) from every reward.

    Examples
    --------
    >>> KL([0.25, 0.75], 0.2)
    KL((0.25, 0.75), 0.2)
    >>> KL("start", 0.2, form="k3").per_sample(np.array([0.5, 0.5]))
    '-0.2 * (1 - 0.5 / pi[a])'
    """

    reference: tuple[float, ...] | str
    strength: float
    form: str

    _positional = 2

    def __init__(
        self, reference: check.Numbers | str, strength: check.Number, form: str = "exact"
    ) -> None:
        self._set(
            reference=_checked_reference("KL.reference", reference),
            strength=check.number("KL.strength", strength, check.NON_NEGATIVE),
            form=check.choice("KL.form", form, FORMS),
        )

    def added(self, natural: bool, reference: Floats) -> str:
        """-beta log(pi / ref), or -beta pi (log(pi / ref) - KL)."""
        if self.form != "exact":
            return ""
        ratio = f"(log(pi) - {vector(np.log(reference))})"
        inner = ratio if natural else f"pi * ({ratio} - sum(pi * {ratio}))"
        return f"-{self.strength!r} * {inner}"

    def slope(self, reference: Floats) -> str:
        """-beta log(pi / ref), and a constant."""
        return self.added(True, reference)

    def per_sample(self, reference: Floats) -> str:
        """-beta c_a."""
        c = {
            "k1": "1",
            "k2": f"(log(pi[a]) - {entry(np.log(reference))})",
            "k3": f"(1 - {entry(reference)} / pi[a])",
        }
        return f"-{self.strength!r} * {c[self.form]}" if self.form in c else ""

    def in_reward(self, reference: Floats) -> str:
        """Beta log(pi_a / ref_a)."""
        if self.form != "reward":
            return ""
        return f"{self.strength!r} * (log(pi[a]) - {entry(np.log(reference))})"


@config
class ReverseKL(Regulariser):
    """-strength times the gradient of KL(reference || pi): what k3 optimises.

    Parameters
    ----------
    reference
        Probabilities > 0, one per arm; ``"start"`` for the policy at the start, ``"uniform"``.
    strength
        beta >= 0.

    Examples
    --------
    >>> ReverseKL("uniform", 0.1).added(False, np.array([0.5, 0.5]))
    '0.1 * (0.5 - pi)'
    """

    reference: tuple[float, ...] | str
    strength: float

    _positional = 2

    def __init__(self, reference: check.Numbers | str, strength: check.Number) -> None:
        self._set(
            reference=_checked_reference("ReverseKL.reference", reference),
            strength=check.number("ReverseKL.strength", strength, check.NON_NEGATIVE),
        )

    def added(self, natural: bool, reference: Floats) -> str:
        """Beta (ref / pi - 1), or beta (ref - pi)."""
        ref = vector(reference)
        return f"{self.strength!r} * " + (f"({ref} / pi - 1)" if natural else f"({ref} - pi)")

    def slope(self, reference: Floats) -> str:
        """Beta ref / pi."""
        return f"{self.strength!r} * {vector(reference)} / pi"


@config
class LogBarrier(Regulariser):
    """strength times the gradient of the mean of log pi over the arms: `ReverseKL` to uniform.

    Parameters
    ----------
    strength
        >= 0.

    Examples
    --------
    >>> LogBarrier(0.1)
    LogBarrier(0.1)
    """

    strength: float

    _positional = 1

    def __init__(self, strength: check.Number) -> None:
        self._set(strength=check.number("LogBarrier.strength", strength, check.NON_NEGATIVE))

    def added(self, natural: bool, reference: Floats) -> str:
        """Beta (1 / (K pi) - 1), or beta (1 / K - pi)."""
        del reference
        return f"{self.strength!r} * " + ("(1 / (K * pi) - 1)" if natural else "(1 / K - pi)")

    def slope(self, reference: Floats) -> str:
        """Beta / (K pi)."""
        del reference
        return f"{self.strength!r} / (K * pi)"


def _checked_reference(argument: str, value: object) -> tuple[float, ...] | str:
    if isinstance(value, str):
        return check.choice(argument, value, NAMED)
    reference = check.probabilities(argument, value)
    if 0.0 in reference:
        allowed = (
            "numbers > 0, as no divergence from 0 is finite: mix it with the uniform policy, or "
            "leave the arm out of the problem"
        )
        raise ConfigError(argument, reference, allowed)
    return reference


# -- vectors as text -------------------------------------------------------------------------------


def vector(values: Floats) -> str:
    """Numbers over arms, as text: one number where they are all equal.

    Examples
    --------
    >>> vector(np.array([0.25, 0.75]))
    '(onehot(0) * 0.25 + onehot(1) * 0.75)'
    >>> vector(np.array([0.5, 0.5]))
    '0.5'
    """
    return _sum([f"onehot({k})" for k in range(len(values))], values.tolist())


def entry(values: Floats) -> str:
    """The number of the drawn arm, as text.

    Examples
    --------
    >>> entry(np.array([0.25, 0.75]))
    '(onehot(0) * 0.25 + onehot(1) * 0.75)[a]'
    """
    text = vector(values)
    return f"{text}[a]" if "onehot" in text else text


def _sum(units: Sequence[str], values: Sequence[float]) -> str:
    """A sum of products, halved again and again so that it is not deep."""
    if len(set(values)) == 1:
        return f"({values[0]!r})" if values[0] < 0.0 else repr(values[0])
    terms = [f"{unit} * {_written(value)}" for unit, value in zip(units, values, strict=True)]
    while len(terms) > 1:
        odd = terms[len(terms) - len(terms) % 2 :]
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [f"({x} + {y})" for x, y in pairs] + odd
    return terms[0]


def _written(value: float) -> str:
    return f"({value!r})" if value < 0.0 else repr(value)
