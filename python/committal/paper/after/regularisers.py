"""A5: regularisers, and what the estimates k1, k2 and k3 of a KL optimise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committal import exact
from committal.config import (
    KL,
    Bandit,
    Entropy,
    Expected,
    Experiment,
    LogBarrier,
    Natural,
    Record,
    Regulariser,
    ReverseKL,
    Softmax,
    Vanilla,
)
from committal.paper.figure import Picture, Table
from committal.paper.lab import Lab
from committal.paper.result import OURS, ComputedResult, all_exactly, exactly, holds_if
from committal.paper.result_pictures import COLOURS, name_lines
from committal.paper.verdicts import Finding
from committal.plot import sheet
from committal.plot.sheet import Figure

Floats = npt.NDArray[np.float64]

MEANS = (1.0, 0.7, 0.0)
LOGITS = (0.0, 1.0, 2.0)
REFERENCE = tuple(np.exp(LOGITS) / np.exp(LOGITS).sum())
BETA, BARRIER = 0.2, 0.1
ETA, TAU = 0.5, 0.2
ROUNDS = 60
#: Of the paths that are drawn: small steps, for long enough.
STEP, PATH = 0.5, 20_000

_FIXED = "A5_regularisers/fixed/"
_POINTS: dict[str, tuple[float, float, float]] = {
    "entropy_tau_0_2": (0.81309532, 0.18142609, 0.0054785932),
    "kl_pi_ref_beta_0_2": (0.6037489, 0.36619222, 0.030058888),
    "k3_loss_beta_0_2": (0.7196078, 0.15059189, 0.12980031),
    "log_barrier_uniform_0_1": (0.86937777, 0.098519761, 0.032102473),
}
_VALUES = {"value_kl": 0.86008345, "value_k3": 0.82502212, "value_barrier": 0.9383416}
REFERENCES = {
    **{f"{_FIXED}{key}/{i}": p for key, point in _POINTS.items() for i, p in enumerate(point)},
    **{_FIXED + key: value for key, value in _VALUES.items()},
    "A5_regularisers/contraction/ratio_last": 0.9,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """A regulariser, in one of its forms."""

    label: str
    regulariser: Regulariser | None
    place: str = ""
    colour: str
    marker: str = "o"

    def experiment(self, *, natural: bool = False) -> Experiment:
        """Return one sample on the policy."""
        return Experiment(
            Bandit(MEANS),
            Softmax(LOGITS),
            Natural(STEP) if natural else Vanilla(STEP),
            regulariser=self.regulariser,
            steps=PATH,
        )


_KL, _K3 = "kl_pi_ref_beta_0_2", "k3_loss_beta_0_2"
FORMS = (
    Form(label="KL(π‖ref), exact", regulariser=KL(REFERENCE, BETA), place=_KL, colour=COLOURS[4]),
    Form(
        label="k1",
        regulariser=KL(REFERENCE, BETA, form="k1"),
        colour=COLOURS[5],
        marker="s",
    ),
    Form(
        label="k2",
        regulariser=KL(REFERENCE, BETA, form="k2"),
        place=_KL,
        colour=COLOURS[3],
        marker="x",
    ),
    Form(
        label="k3",
        regulariser=KL(REFERENCE, BETA, form="k3"),
        place=_K3,
        colour=COLOURS[0],
    ),
    Form(
        label="KL(ref‖π), exact",
        regulariser=ReverseKL(REFERENCE, BETA),
        place=_K3,
        colour=COLOURS[1],
        marker="x",
    ),
    Form(
        label="in the reward",
        regulariser=KL(REFERENCE, BETA, form="reward"),
        place=_KL,
        colour=COLOURS[2],
        marker="+",
    ),
    Form(
        label=f"entropy, τ = {TAU:g}",
        regulariser=Entropy(TAU),
        place="entropy_tau_0_2",
        colour=COLOURS[6],
        marker="D",
    ),
    Form(
        label=f"log barrier, {BARRIER:g}",
        regulariser=LogBarrier(BARRIER),
        place="log_barrier_uniform_0_1",
        colour="#666666",
        marker="^",
    ),
)
NONE = Form(label="none", regulariser=None, colour="grey")


def ends(form: Form, *, natural: bool = False) -> Floats:
    """Return the policy at the only stable point of the expected direction."""
    (point,) = (x for x in exact.stationary(form.experiment(natural=natural)) if x.stable)
    return point.policy


def errors(update: Vanilla | Natural, rounds: int) -> Floats:
    """Return how far centred θ is from r/τ, update by update."""
    exp = Experiment(Bandit(MEANS), Softmax(), update, steps=rounds)
    theta = exact.expected_path(exp).theta
    goal = np.array(MEANS) / TAU
    apart = theta - goal - (theta - goal).mean(axis=1, keepdims=True)
    return np.asarray(np.abs(apart).max(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """What was computed: fixed points, paths to them, variances, and errors by update."""

    vanilla: dict[Form, Floats]
    natural: dict[Form, Floats]
    paths: dict[Form, Floats]
    variances: dict[Form, float]
    baseline: float
    contraction: Floats
    slower: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Regularised(ComputedResult[Points]):
    """Fixed points on the simplex, and a contraction."""

    def compute(self, lab: Lab) -> Points:
        """Solve, and follow the expectation."""
        at = np.unique(np.rint(np.geomspace(1, PATH, 80)).astype(np.int64)).tolist()

        def path(form: Form) -> Floats:
            exp = form.experiment().replace(
                estimator=Expected(), record=Record("policy", at=[0, *at])
            )
            return np.asarray(lab.sample(exp, 1, "A5")["policy"].values[0])

        return Points(
            {form: ends(form) for form in FORMS if form.label != "k1"},
            {form: ends(form, natural=True) for form in FORMS if form.label != "k1"},
            {form: path(form) for form in FORMS},
            {
                form: float(exact.gradient_variance(form.experiment()))
                for form in (NONE, *FORMS[:4])
            },
            float(exact.gradient_variance(NONE.experiment().replace(baseline=BETA))),
            errors(Natural(ETA, entropy=TAU), ROUNDS),
            errors(Vanilla(ETA, entropy=TAU), ROUNDS),
        )

    def judge(self, data: Points) -> list[Finding]:
        """Compare fixed points, forms with one another, and the contraction."""
        r = np.array(MEANS)
        places = {form.label: pi for form, pi in data.vanilla.items()}
        values = {
            "value_kl": places["KL(π‖ref), exact"] @ r,
            "value_k3": places["k3"] @ r,
            "value_barrier": places[f"log barrier, {BARRIER:g}"] @ r,
        }
        ratios = data.contraction[1:] / data.contraction[:-1]
        k1 = next(form for form in FORMS if form.label == "k1")
        none = np.asarray(exact.flow(NONE.experiment()))
        drift = np.asarray(exact.flow(k1.experiment()))
        var = {form.label: x for form, x in data.variances.items()}
        return [
            all_exactly(
                "fixed points of seven forms, vanilla and natural",
                "KL: (0.6037, 0.3662, 0.0301); k3: (0.7196, 0.1506, 0.1298)",
                [
                    (float(p), want)
                    for found in (data.vanilla, data.natural)
                    for form, pi in found.items()
                    for p, want in zip(pi, _POINTS[form.place], strict=True)
                ],
            ),
            all_exactly(
                "their values",
                "same numbers as an independent implementation",
                [(float(x), _VALUES[key]) for key, x in values.items()],
            ),
            holds_if(
                "k2 and the KL in the reward against the exact KL(π‖ref)",
                "right: the same fixed point",
                _apart(places, "KL(π‖ref), exact", "k2", "in the reward"),
                _near(places, "KL(π‖ref), exact", "k2", "in the reward"),
                "equal to 1e-6",
            ),
            holds_if(
                "k3 against the exact KL(ref‖π)",
                "k3 has the mean of the other KL",
                _apart(places, "KL(ref‖π), exact", "k3"),
                _near(places, "KL(ref‖π), exact", "k3"),
                "equal to 1e-6",
            ),
            holds_if(
                "k1 against no regulariser: expected direction, and variance of a step",
                "mean 0; ours: it is nothing but the constant baseline β",
                f"{np.abs(drift - none).max():.1e} apart; variance {var['k1']:.5f}, that of "
                f"b = {BETA:g} is {data.baseline:.5f}, that of b = 0 {var['none']:.5f}",
                bool(np.abs(drift - none).max() < 1e-12) and abs(var["k1"] - data.baseline) < 1e-12,
                "the direction equal to 1e-12, the variance equal to that of b = β",
            ),
            exactly(
                f"entropy, natural, η = {ETA:g}, τ = {TAU:g}: error of θ from update to update",
                "contracts by exactly 1 − ητ = 0.9",
                float(ratios[-1]),
                REFERENCES["A5_regularisers/contraction/ratio_last"],
            ),
            holds_if(
                "the same from the first update on",
                OURS + "from any start, in every update",
                f"ratios from {ratios.min():.12f} to {ratios.max():.12f}",
                bool(np.abs(ratios - (1 - ETA * TAU)).max() < 1e-9),
                "0.9 to 1e-9",
            ),
        ]

    def tables(self, data: Points) -> list[Table]:
        """List fixed points and variances."""
        rows = tuple(
            (form.label, *(f"{p:.6f}" for p in pi), f"{pi @ np.array(MEANS):.6f}")
            for form, pi in data.vanilla.items()
        )
        spread = tuple((form.label, f"{x:.5f}") for form, x in data.variances.items())
        return [
            Table("Fixed points", ("form", "π₀", "π₁", "π₂", "value"), rows),
            Table("Variance of a vanilla step at the reference", ("form", "variance"), spread),
        ]

    def pictures(self, data: Points) -> list[Picture]:
        """Return the one picture."""
        return [
            Picture(
                self.name,
                "Left: where regularised gradients of arms (1, 0.7, 0) end, with the way of the "
                "expectation from the reference (white circle), which is softmax(0, 1, 2); β = "
                f"{BETA:g}. k2 and the KL in the reward end where the exact KL(π‖ref) does, k3 "
                "where KL(ref‖π) does, and k1 at the best arm, as without a regulariser. Right: "
                f"largest error of centred θ with entropy τ = {TAU:g} and η = {ETA:g}; natural "
                "gradients shrink it by 1 − ητ in every update.",
                lambda: draw(data),
            )
        ]


def _near(places: dict[str, Floats], *labels: str) -> bool:
    return all(np.abs(places[x] - places[labels[0]]).max() < 1e-6 for x in labels[1:])


def _apart(places: dict[str, Floats], *labels: str) -> str:
    far = [float(np.abs(places[x] - places[labels[0]]).max()) for x in labels[1:]]
    return ", ".join(f"{label}: {x:.1e}" for label, x in zip(labels[1:], far, strict=True))


def draw(data: Points) -> Figure:
    """Draw the simplex and the contraction."""
    figure, (left, right) = sheet.row("sc", height=3.1, ratios=[1.25, 1])
    _triangle(left, data)
    t = np.arange(len(data.contraction))
    right.plot(t, data.contraction, color=COLOURS[4], label="natural")
    right.plot(t, data.slower, color=COLOURS[0], label="vanilla")
    right.plot(t, data.contraction[0] * (1 - ETA * TAU) ** t, ":", color="black",
               label=r"$(1 - \eta\tau)^t$")  # fmt: skip
    right.set(yscale="log", xlabel="update", ylabel=r"largest error of centred $\theta$")
    right.set_title(rf"entropy, $\eta = {ETA:g}$, $\tau = {TAU:g}$")
    right.spines[["top", "right"]].set_visible(False)
    name_lines(right, "lower left")
    return figure


def _triangle(ax: Any, data: Points) -> None:
    for axis in (ax.taxis, ax.laxis, ax.raxis):
        axis.set_ticks([])
        axis.set_label_rotation_mode("horizontal")
    for form, path in data.paths.items():
        ax.plot(*_placed(path), color=form.colour, linewidth=0.7, zorder=2)
        ax.plot(
            *_placed(path[-1:]), form.marker, color=form.colour, markersize=5, zorder=4,
            clip_on=False, linestyle="none", label=form.label,
        )  # fmt: skip
    ax.plot(*_placed(np.array([REFERENCE])), "o", color="black", markerfacecolor="white",
            markersize=5, zorder=5, linestyle="none", label="reference")  # fmt: skip
    ax.set_tlabel("arm that pays 1")
    ax.set_llabel("0")
    ax.set_rlabel("0.7")
    ax.legend(loc="center left", bbox_to_anchor=(-0.42, 0.72), frameon=False, handlelength=1.0)


def _placed(pi: Floats) -> Sequence[Floats]:
    """Return policies as top, left, right."""
    return pi[:, 0], pi[:, 2], pi[:, 1]


FIGURES = (
    Regularised(
        name="A5",
        title="Regularisers, and estimates of the KL",
        says="A KL to a reference that is estimated from the drawn arms need not be the KL that is "
        "optimised. Of the three estimates in use, the gradient of k1 is 0 on average, that of k2 "
        "is right, and that of k3 is the gradient of the other KL, from the reference to the "
        "policy. With r = (1, 0.7, 0), ref = softmax(0, 1, 2) and β = 0.2 the KL ends at (0.6037, "
        "0.3662, 0.0301) and k3 at (0.7196, 0.1506, 0.1298). Natural gradients with entropy "
        "contract by exactly 1 − ητ.",
        source="Cen et al. 2007.06558; Tang & Munos 2506.09477",
        own="that the contraction is exact in every update and from any start, and that k1 is the "
        "constant baseline β: docs/groups.md, “Regularisers”.",
        settled=(
            "All of this is on the policy, where a sample is drawn from π itself.",
            "The contraction is that of θ less its mean: along (1, …, 1) nothing is seen.",
        ),
        described=(
            ("problem", "arms (1, 0.7, 0); reference softmax(0, 1, 2)"),
            ("strengths", f"β = {BETA:g}, τ = {TAU:g}, log barrier {BARRIER:g}"),
            ("fixed points", "of the expected direction, solved; vanilla and natural"),
            ("contraction", f"natural, η = {ETA:g}, τ = {TAU:g}, from uniform"),
        ),
    ),
)
