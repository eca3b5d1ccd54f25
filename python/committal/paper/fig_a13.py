"""Figure A13: four rooms, vanilla policy gradient with b* + c (max Q − b*).

The paper finds that +c keeps more entropy and earns less than −c. With the settings that were
found to reproduce the other figures, +c earns a little more instead. So the figure is reported as a
difference, beside a search for settings under which the paper's order appears.
"""

from __future__ import annotations

from dataclasses import dataclass

from committal.config import (
    Estimator,
    ExactQ,
    Experiment,
    MinVariance,
    Record,
    Reduce,
    Softmax,
    Vanilla,
)
from committal.paper.figure import PaperFigure, Picture, Table
from committal.paper.grids import (
    ROOMS,
    ROOMS_BELOW,
    GridFigure,
    GridOutcome,
    cases_of,
    documented_rule,
    ends_near,
    keeps_entropy,
    mean_at,
    returns_more,
)
from committal.paper.lab import Lab
from committal.paper.verdicts import Estimate, Finding, Verdict, positive, worst

STEP_SIZE = 0.5
EPISODES = 3000
PERTURBATIONS = (-10.0, -5.0, 0.0, 5.0, 10.0)
RUNS, PRECISE = 50, 4000

CASES = cases_of(
    ROOMS,
    Vanilla(step_size=STEP_SIZE),
    ExactQ(),
    EPISODES,
    "c",
    {c: MinVariance().relative(c) for c in PERTURBATIONS},
)


@dataclass(frozen=True, slots=True)
class Setting:
    """Another setting in which ±c are compared.

    Attributes
    ----------
    label : str
        What is different.
    c : float
        The perturbation.
    step_size, episodes, estimator, metric
        Of the experiments.
    runs : int
        At high precision.
    """

    label: str
    c: float
    step_size: float = STEP_SIZE
    episodes: int = EPISODES
    estimator: Estimator = ExactQ()  # noqa: RUF009  (configurations do not change)
    metric: str = "gradient"
    runs: int = 200

    def experiment(self, sign: int) -> Experiment:
        """Return one of the two experiments."""
        return Experiment(
            ROOMS,
            Softmax(),
            Vanilla(self.step_size),
            MinVariance(self.metric).relative(sign * self.c),
            estimator=self.estimator,
            steps=self.episodes,
            record=Record(
                "value", "action_entropy", "state_entropy", reduce=Reduce(below=ROOMS_BELOW)
            ),
        )


SMALL = Setting("c = 2", 2.0, runs=600)
EARLY = Setting("c = 5, after 60 episodes", 5.0, episodes=60, runs=6000)
SEARCH = (
    Setting("c = 1", 1.0, runs=600),
    SMALL,
    EARLY,
    Setting("c = 5, α = 0.2, after 150 episodes", 5.0, 0.2, 150, runs=4000),
    Setting("c = 10, α = 0.05, after 600 episodes", 10.0, 0.05, 600, runs=2000),
    Setting("c = 5, α = 1", 5.0, 1.0),
    Setting("c = 5, b* of the natural metric", 5.0, metric="natural"),
    Setting("c = 5, Q by sweeps, tolerance 0.001", 5.0, estimator=ExactQ("iterative")),
    Setting("c = 5, discounted states", 5.0, estimator=ExactQ(discounted=True)),
)
_FEW = 10  # runs of the search where a quick answer is wanted


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """+c minus −c at the end, in one setting."""

    setting: Setting
    low: Estimate
    high: Estimate
    value: Estimate
    action_entropy: Estimate
    state_entropy: Estimate

    @property
    def as_in_the_paper(self) -> Verdict:
        """Judge whether +c keeps more entropy and earns less."""
        less = Estimate(-self.value.estimate, -self.value.high, -self.value.low)
        return worst(map(positive, (less, self.action_entropy, self.state_entropy)))


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The figure, and the search."""

    own: list[GridOutcome]
    search: list[Pair]


INNER = GridFigure(
    name="figA13",
    title="Four rooms, vanilla policy gradient with b* + c (max Q − b*)",
    says="With perturbations relative to the size of the advantages, +c and −c differ: +c keeps "
    "more action and state entropy, which here does not pay but reduces the return.",
    cases=CASES,
    runs=RUNS,
    precise=PRECISE,
    below=ROOMS_BELOW,
    rules=(
        documented_rule(keeps_entropy(1, 3, "state_entropy", 1.0, "larger for +c than for −c")),
        documented_rule(keeps_entropy(0, 4, "state_entropy", 1.0, "larger for +c than for −c")),
        documented_rule(keeps_entropy(1, 3, "action_entropy", 1.0, "larger for +c than for −c")),
        documented_rule(keeps_entropy(0, 4, "action_entropy", 1.0, "larger for +c than for −c")),
        documented_rule(returns_more(3, 1, "+c earns less than −c")),
        documented_rule(returns_more(4, 0, "+c earns less than −c")),
        ends_near(2, 0.83, 0.8688, "the unperturbed baseline learns well"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative(PaperFigure[Data]):
    """The figure with its search."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return INNER.settings

    def compute(self, lab: Lab) -> Data:
        """Run the figure, then the search."""
        return Data(INNER.compute(lab), [_pair(lab, setting) for setting in SEARCH])

    def judge(self, data: Data) -> list[Finding]:
        """Ask the figure, and the two settings in which the paper's order appears."""
        found = INNER.judge(data.own)
        for pair in data.search:
            if pair.setting in (SMALL, EARLY):
                found.append(
                    Finding(
                        f"{pair.setting.label}: +c minus −c in value, action and state entropy",
                        "+c keeps more entropy and earns less",
                        f"{pair.value}; {pair.action_entropy}; {pair.state_entropy} nats",
                        pair.as_in_the_paper,
                        "negative, positive and positive by 3 standard errors",
                    )
                )
        return found

    def tables(self, data: Data) -> list[Table]:
        """List the ends, and the search."""
        rows = tuple(
            (
                pair.setting.label,
                str(pair.low),
                str(pair.high),
                str(pair.value),
                str(pair.action_entropy),
                str(pair.state_entropy),
                {Verdict.HOLDS: "yes", Verdict.FAILS: "no"}.get(pair.as_in_the_paper, "not all"),
            )
            for pair in data.search
        )
        header = (
            "setting",
            "value, −c",
            "value, +c",
            "difference",
            "in action entropy",
            "in state entropy",
            "the paper’s order?",
        )
        search = Table("Where does the paper’s order appear? +c minus −c at the end", header, rows)
        return [*INNER.tables(data.own), search]

    def pictures(self, data: Data) -> list[Picture]:
        """Return the paper's picture and the same at high precision."""
        return INNER.pictures(data.own)


def _pair(lab: Lab, setting: Setting) -> Pair:
    low, high = (
        lab.ensemble(setting.experiment(sign), setting.runs, _FEW, f"figA13 {setting.label}")
        for sign in (-1, 1)
    )

    def gap(name: str) -> Estimate:
        return mean_at(high, name, 1.0).minus(mean_at(low, name, 1.0))

    return Pair(
        setting,
        mean_at(low, "value", 1.0),
        mean_at(high, "value", 1.0),
        gap("value"),
        gap("action_entropy"),
        gap("state_entropy"),
    )


FIGURE = Relative(
    name=INNER.name,
    title=INNER.title,
    says=INNER.says,
    settled=(
        "The number of episodes is not stated: 3000, cut after 100 moves; c is read as ±5 and "
        "±10. The captions of the two vanilla figures are swapped with respect to how the text "
        "refers to them; this is the one with 50 runs.",
        "The paper's order does not come out at the end: for c = 5 and 10 the positive "
        "perturbation keeps more state entropy and earns slightly more. It does appear early in "
        "learning, in the first hundred episodes or so, and for small perturbations, c ≤ 2, "
        "where the difference in value is far too small to be seen in a picture. A different "
        "metric of b*, sweeps instead of an exact solution, discounted states and larger steps "
        "do not bring it about.",
    ),
)
