"""Settings of A3: gradient bandits from uniform, with small and large steps, and what is known."""

from __future__ import annotations

from typing import Any

from committal import exact
from committal.config import Bandit, Experiment, Softmax, Value, Vanilla
from committal.paper.result import Known, Setting, known
from committal.paper.result_pictures import COLOURS

SURE = Bandit([1.0, 0.5])
COINS = Bandit([0.6, 0.5], noise="bernoulli")
TEN = Bandit([0.6, *[0.5] * 9], noise="bernoulli")
#: Step sizes of the picture, in units of the critical one.
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
#: From here on what was measured must be the power of theory, to this.
BEYOND, NEAR = 2.0, 0.1
FOLDER = "A3_sgb/"
UPDATES = 100_000

REFERENCES: dict[str, float] = {
    FOLDER + "theory/det/u": 1.5936243,
    FOLDER + "theory/det/eta_c": 0.79681213,
    FOLDER + "theory/bern/u": 0.376438,
    FOLDER + "theory/bern/eta_c": 0.188219,
    FOLDER + "det_long/sgb_det_1_.5_eta4.0/kappa": 0.19920303,
}


def experiment(problem: Bandit, eta: float, steps: int, baseline: Any = 0.0) -> Experiment:
    """Return θ += ηR(e_a − π) from uniform."""
    return Experiment(problem, Softmax(), Vanilla(eta), baseline, steps=steps)


ETA_C = {
    "sure": exact.critical_step_size(experiment(SURE, 1.0, 1)),
    "coins": exact.critical_step_size(experiment(COINS, 1.0, 1)),
}


def half(problem: Bandit) -> float:
    """Return J where the best arm and the others are as likely."""
    return (max(problem.means) + min(problem.means)) / 2


def _known(place: str, runs: int, rows: dict[int, tuple[float, float, float, float]]) -> Any:
    """Return shares of wrong runs and regrets, by time."""
    wrong = {time: row[:2] for time, row in rows.items()}
    regret = {time: row[2:] for time, row in rows.items()}
    return (
        *known("failures", f"{FOLDER}{place}/frac_below_half", runs, wrong),
        *known("regret", f"{FOLDER}{place}/regret", runs, regret),
    )


def setting(
    label: str,
    experiment: Experiment,
    runs: int,
    quick: int,
    numbers: tuple[Known, ...] = (),
    colour: str = "black",
    latex: str = "",
) -> Setting:
    """Return a setting whose regret is recorded."""
    assert isinstance(experiment.problem, Bandit)
    return Setting(
        label=label,
        latex=latex,
        experiment=experiment,
        runs=runs,
        quick=quick,
        below=half(experiment.problem),
        record=("regret",),
        known=numbers,
        colour=colour,
    )


LONG = (
    setting(
        "(1, 0.5), η = 0.25",
        experiment(SURE, 0.25, UPDATES),
        4000,
        1000,
        _known(
            "det_long/sgb_det_1_.5_eta0.25",
            4000,
            {
                100: (0.001, 0.0005, 8.5570951, 0.0517),
                10_000: (0.0, 1.6e-8, 18.530569, 0.08435),
                UPDATES: (0.0, 1.6e-8, 23.174323, 0.08839),
            },
        ),
        COLOURS[4],
        r"$\eta = 0.25$",
    ),
    setting(
        "(1, 0.5), η = 4",
        experiment(SURE, 4.0, UPDATES),
        8000,
        2000,
        _known(
            "det_long/sgb_det_1_.5_eta4.0",
            4000,
            {
                100: (0.2125, 0.00647, 13.160016, 0.30705),
                1000: (0.13275, 0.00536, 83.325234, 2.68124),
                10_000: (0.08175, 0.00433, 521.02832, 22.294),
                UPDATES: (0.0515, 0.00349, 3260.0037, 181.99),
            },
        ),
        COLOURS[0],
        r"$\eta = 4$",
    ),
    setting(
        "(1, 0.5), η = 2",
        experiment(SURE, 2.0, UPDATES),
        8000,
        1000,
        colour=COLOURS[1],
        latex=r"$\eta = 2$",
    ),
    setting(
        "(1, 0.5), η = 1",
        experiment(SURE, 1.0, 10_000),
        20_000,
        2000,
        _known(
            "det/sgb_det_1_.5_eta1.0",
            20_000,
            {
                100: (0.0258, 0.00112, 5.4911113, 0.05968),
                1000: (0.00355, 0.00042, 10.141274, 0.26366),
                10_000: (0.00085, 0.000206, 17.731374, 1.24626),
            },
        ),
        COLOURS[2],
        r"$\eta = 1$",
    ),
    setting(
        "(1, 0.5), η = 4, V",
        experiment(SURE, 4.0, 10_000, Value()),
        4000,
        1000,
        _known(
            "value",
            4000,
            {
                100: (0.0, 1.6e-8, 1.1053092, 0.00691),
                10_000: (0.0, 1.6e-8, 1.6941525, 0.01103),
            },
        ),
    ),
    setting("Bernoulli(0.6, 0.5), η = 2, V", experiment(COINS, 2.0, 10_000, Value()), 8000, 1000),
    *(
        setting(
            f"Bernoulli(0.6, 0.5), η = {eta:g}",
            experiment(COINS, eta, UPDATES),
            3000,
            600,
            _known(f"bern/sgb_bern_eta{eta:g}", 3000, rows),
        )
        for eta, rows in (
            (
                0.05,
                {
                    1000: (0.023, 0.00274, 29.140124, 0.17511),
                    UPDATES: (0.0, 1.8e-8, 84.250551, 0.47728),
                },
            ),
            (
                0.4,
                {
                    1000: (0.125, 0.00604, 20.766656, 0.51766),
                    UPDATES: (0.010666667, 0.00188, 249.51369, 22.2),
                },
            ),
        )
    ),
    *(
        setting(
            f"ten arms, η = {eta:g}",
            experiment(TEN, eta, 50_000),
            2000,
            300,
            _known(f"K10/sgb_K10_bern_eta{eta:g}", 400, {50_000: row}),
        )
        for eta, row in (
            (0.02, (0.0, 5e-8, 751.75009, 8.018)),
            (0.18, (0.08, 0.01356, 594.35632, 67.25)),
        )
    ),
)
GRIDS = {
    name: tuple(
        setting(
            f"{words}, η = {eta:.3g}",
            experiment(problem, eta, steps),
            runs,
            quick,
            colour=colour,
        )
        for eta in (factor * ETA_C[name] for factor in FACTORS)
    )
    for name, words, problem, steps, runs, quick, colour in (
        ("sure", "(1, 0.5)", SURE, 10_000, 20_000, 2000, COLOURS[0]),
        ("coins", "Bernoulli(0.6, 0.5)", COINS, UPDATES, 8000, 400, COLOURS[4]),
    )
}


def exponent(eta: float) -> float:
    """Return κ of the wrong arm of (1, 0.5)."""
    found = exact.corner(experiment(SURE, eta, 1), arm=1).exponent
    assert found is not None
    return found
