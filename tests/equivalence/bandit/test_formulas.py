"""Formulas in the core: whole runs against native parts, the oracle, and every way of running."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import _core, reference
from committal.errors import DivergenceError, NonFiniteError
from committal.reference.replay import why_not_finite

BANDIT = cm.Bandit([1.0, 0.7, 0.0])
NOISY = cm.Bandit([0.9, 0.7, 0.1], noise="bernoulli")
BASE = cm.Experiment(
    BANDIT, cm.Softmax([0, 1, 2]), cm.Natural(0.05), cm.Value() - 0.25, steps=60,
    record=cm.Record("value", "policy", "theta", "baseline", "action", "reward", every=5),
)  # fmt: skip
ISAS = _core.available()["isas"]


def _norms(pi: Any) -> Any:
    return pi * (cm.others(pi) ** 2 + cm.others(pi**2))


def _fixed_lambda(pi: Any, r: Any, K: Any, *, lam: float = 1.5) -> Any:
    w = pi * ((K - 1) * lam**2 + (lam + 1 / pi) ** 2)
    return cm.dot(w, r) / w.sum()


BASELINES: dict[str, tuple[Any, Any]] = {
    "value": (cm.Value(), cm.baseline("sum(pi * r)")),
    "maximum": (cm.Maximum(), cm.baseline("max(r)")),
    "gradient": (
        cm.MinVariance(),
        cm.baseline(lambda pi, r: cm.dot(_norms(pi), r) / _norms(pi).sum()),
    ),
    "natural": (cm.MinVariance("natural"), cm.baseline("sum(r / pi) / sum(1 / pi)")),
    "lambda": (cm.MinVariance("natural", lam=1.5), cm.baseline(_fixed_lambda)),
    "constant": (cm.Constant(0.3), cm.baseline("0.3 + 0 * t")),
    "sum": (0.5 * cm.Value() - 1, cm.baseline("0.5 * sum(pi * r) - 1")),
    "mixed": (cm.Value() + cm.Maximum() - 1, cm.baseline("max(r)") + cm.Value() - 1),
}


def runs_of(e: cm.Experiment, runs: int = 70, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


def same(one: cm.Experiment, other: cm.Experiment, rtol: float = 1e-12) -> None:
    a, b = runs_of(one), runs_of(other)
    np.testing.assert_array_equal(a["action"], b["action"])
    for name in ("theta", "value", "policy", "baseline"):
        np.testing.assert_allclose(a[name], b[name], rtol=rtol, atol=1e-13, err_msg=name)
    below = 0.9 if one.problem == BANDIT else 0.8
    fails = [cm.failure_rate(x, below=below).failures for x in (a, b)]
    assert fails[0] == fails[1]


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("update", [cm.Vanilla(0.3), cm.Natural(0.05)], ids=repr)
@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.UniformMixture(0.3)], ids=repr)
def test_baselines(name: str, update: Any, behaviour: Any) -> None:
    native, formula = BASELINES[name]
    base = BASE.replace(update=update, behaviour=behaviour)
    same(base.replace(baseline=native), base.replace(baseline=formula))
    group = base.replace(problem=NOISY, estimator=cm.OneSample(samples=3))
    same(group.replace(baseline=native - 0.1), group.replace(baseline=formula - 0.1))


def test_a_state_is_a_running_mean() -> None:
    native = cm.RunningMean(rate=0.1, initial=0.5)
    formula = cm.baseline("v", state={"v": (0.5, "v + 0.1 * (mean(R) - v)")})
    base = BASE.replace(problem=NOISY)
    same(base.replace(baseline=native), base.replace(baseline=formula))
    first = cm.baseline("v - n", state={"v": (0.5, "v + 0.1 * (mean(R) - v)"), "n": (1, "1 * n")})
    same(base.replace(baseline=native - 1), base.replace(baseline=first))


@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.EpsilonGreedy(0.3)], ids=repr)
@pytest.mark.parametrize("samples", [1, 3])
def test_updates_and_weights(behaviour: Any, samples: int) -> None:
    base = BASE.replace(behaviour=behaviour, estimator=cm.OneSample(samples=samples))
    for native, psi in ((cm.Vanilla(0.3), "score"), (cm.Natural(0.05), "natural")):
        e = base.replace(update=native)
        same(e, base.replace(update=cm.update(f"A * rho * {psi}")(native.step_size)), 1e-11)
        mean = cm.update(f"mean(A * rho * {psi}, over='samples')")(native.step_size)
        same(e, base.replace(update=mean), 1e-11)
        same(e, e.replace(**{"estimator.weight": cm.weight("rho")}), 1e-11)
        same(e, e.replace(**{"estimator.weight": cm.weight("pi[a] / mu[a]")}), 1e-11)


def test_exponential_is_the_softmax() -> None:
    base = BASE.replace(update=cm.Vanilla(0.3), behaviour=cm.UniformMixture(0.3))
    same(base, base.replace(policy=cm.link("exp(theta)")([0, 1, 2])), 1e-11)


def test_optimisers_of_ones_own() -> None:
    base = BASE.replace(update=cm.Vanilla(0.3))
    same(base, base.replace(optimiser=cm.optimiser("g")))
    same(base, base.replace(optimiser=cm.Momentum(0)))
    named = base.replace(optimiser=cm.Momentum(0.5))
    own = cm.optimiser(lambda g, m: (0.5 * m + g, {"m": 0.5 * m + g}), state={"m": 0.0})
    same(named, base.replace(optimiser=own))


def test_native_quantities_as_formulas() -> None:
    own = (
        cm.quantity("sum(pi * r)", name="own_value"),
        cm.quantity("-sum(pi * log(pi))", name="own_entropy"),
        cm.quantity("pi", name="own_policy"),
        cm.quantity("theta", name="own_theta"),
        cm.quantity("mean(b)", name="own_baseline"),
        cm.quantity("mean(R)", name="own_reward"),
        cm.quantity("sqrt(sum((pi - onehot(0))**2))", name="own_distance"),
    )
    names = [q.name.removeprefix("own_") for q in own]
    data = runs_of(BASE.replace(record=cm.Record(*names, *own, every=5)))
    for name in names:
        assert data[f"own_{name}"].dims == data[name].dims
        np.testing.assert_allclose(
            data[f"own_{name}"], data[name], rtol=1e-9, atol=1e-12, err_msg=name
        )


# -- the oracle ------------------------------------------------------------------------------------

GROUP = BASE.replace(problem=NOISY, update=cm.Vanilla(0.4), estimator=cm.OneSample(samples=4))
CASES: dict[str, cm.Experiment] = {
    "collision": BASE.replace(baseline=cm.baseline("sum(pi**2 * r) / sum(pi**2)") - 0.5),
    "leave one out": GROUP.replace(baseline=cm.baseline("others(R, 'mean')")),
    "time": BASE.replace(baseline=cm.baseline("sum(mu * r) / (1 + t) + 0.01 * max(theta) + K - N")),
    "two states": BASE.replace(
        baseline=cm.baseline("v", state={"v": (0.5, "v + 0.1 * (R.mean() - v)")})
        - 0.5 * cm.baseline("w", state={"w": (1.0, "max(R)")})
    ),
    "vector state": BASE.replace(
        baseline=cm.baseline(
            "sum(pi * q)",
            state={"q": (0.5, "q + 0.2 * mean(onehot(a) * (R - q), over='samples')")},
        )
    ),
    "tapered": GROUP.replace(
        behaviour=cm.UniformMixture(0.5),
        estimator=cm.OneSample(
            samples=4, weight=cm.weight("where(A > 0, 1, minimum(rho, top))", top=2)
        ),
    ),
    "delightful": GROUP.replace(
        estimator=cm.OneSample(weight=cm.weight("1 / (1 + exp(A * log(pi[a]) / T))", T=0.5))
    ),
    "normalised group": GROUP.replace(
        update=cm.update("(R - mean(R)) / (std(R) + 0.001) * score")(0.3)
    ),
    "positive": GROUP.replace(update=cm.update("maximum(A, 0) * rho * score")(0.3)),
    "pulled": GROUP.replace(update=cm.update("mean(A * score, over='samples') - 0.1 * theta")(0.3)),
    "escort": GROUP.replace(policy=cm.link("abs(theta)**p", p=3)([1, -2, 1.5])),
    "steep": GROUP.replace(policy=cm.link("theta**2 + 0.1")([1, -2, 1.5])),
    "momentum": GROUP.replace(optimiser=cm.Momentum(0.5)),
    "adam": GROUP.replace(update=cm.Vanilla(0.05), optimiser=cm.Adam()),
    # A tiny gradient is blown up to length 1, and its rounding with it: the run is short.
    "normalised": GROUP.replace(optimiser=cm.Normalised(), steps=40),
    "clipped": GROUP.replace(update=cm.Natural(0.1), optimiser=cm.ClipNorm(0.5)),
    "regularised": GROUP.replace(update=cm.Vanilla(0.3, entropy=0.1), optimiser=cm.Momentum(0.5)),
    "expected": BASE.replace(
        update=cm.Vanilla(0.3), estimator=cm.Expected(), optimiser=cm.Adam(),
        record=cm.Record("theta", "policy", "value"),
    ),
    "expected escort": BASE.replace(
        update=cm.Vanilla(0.3), estimator=cm.Expected(), policy=cm.link("theta**2")([1, 2, 3]),
        record=cm.Record("theta", "policy", "value"),
    ),
    "everything": GROUP.replace(
        policy=cm.link("exp(theta) + 0.01")([0, 1, 2]), behaviour=cm.UniformMixture(0.2),
        baseline=cm.baseline("others(R, 'mean')") + 0.1 * cm.Value(), optimiser=cm.Adam(),
        estimator=cm.OneSample(samples=3, weight=cm.weight("minimum(rho, 1.5)")),
        record=cm.Record("theta", "action", cm.quantity("max(pi) + mean(A)", name="own"), every=3),
    ),
    "sigmoid": cm.Experiment(
        cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Vanilla(0.3), cm.baseline("sum(pi**2 * r)") - 0.5,
        estimator=cm.OneSample(weight=cm.weight("minimum(rho, 1)")), steps=60,
        behaviour=cm.UniformMixture(0.3),
        record=cm.Record("theta", "action", "baseline", every=5),
    ),
    "direct": cm.Experiment(
        BANDIT, cm.Direct(), cm.Vanilla(0.01), cm.baseline("sum(pi**2 * r)"), steps=60,
        record=cm.Record("theta", "action", "baseline", every=5),
    ),
    "many arms": BASE.replace(
        problem=cm.Bandit(np.linspace(0, 1, 200)), policy=cm.Softmax(),
        baseline=cm.baseline("sum(pi**2 * r) / sum(pi**2)") - 0.5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_oracle(case: str) -> None:
    e = CASES[case]
    data = runs_of(e, runs=3)
    key = int(data.attrs["key"], 16)
    times = data["time"].values
    for run in range(3):
        want = reference.simulate(e, key=key, run=run)
        for name in data.data_vars:
            got, expected = data[name].values[run], want[str(name)][times]
            if name in ("action", "reward") and got.ndim < expected.ndim:
                expected = expected[:, 0]
            if got.ndim < expected.ndim:
                expected = expected[..., 0]
            np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9, err_msg=str(name))


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str) -> None:
    e = CASES[case]
    first = runs_of(e)
    for options in (
        *({"isa": isa} for isa in ISAS),
        {"threads": 3},
        {"chunk": 13},
    ):
        assert first.equals(runs_of(e, **options)), options
    later = cm.run(e, runs=7, first_run=63, rng=1)
    assert later.equals(first.isel(run=slice(63, None)))


# -- what is not finite ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"baseline": cm.baseline("1 / (t - 7) + sum(pi)")},
            r"update 7: .*baseline.* 1 / \(t - 7\)",
        ),
        ({"optimiser": cm.optimiser("g / (t - 3)")}, r"update 3: .*optimiser"),
        ({"update": cm.update("score / (t - 5)")(0.1)}, r"update 5: .*update"),
        ({"estimator.weight": cm.weight("log(t - 4)")}, r"update [0-4]: .*weight"),
    ],
)
def test_the_place_is_named(changes: dict[str, Any], words: str) -> None:
    e = BASE.replace(**changes)
    with pytest.raises(NonFiniteError, match=words) as caught:
        runs_of(e)
    assert caught.value.operands


def test_quantities_that_are_not_finite() -> None:
    record = cm.Record(cm.quantity("1 / (t - 10)", name="pole"), every=5)
    with pytest.raises(NonFiniteError, match=r"update 10: .*pole.* 1 / \(t - 10\)"):
        runs_of(BASE.replace(record=record))
    # Where it is not recorded nobody looks.
    runs_of(BASE.replace(record=cm.Record(cm.quantity("1 / (t - 11)", name="pole"), every=5)))


def test_plain_divergence_stays_what_it_is() -> None:
    e = BASE.replace(optimiser=cm.optimiser("g * 1e290"), update=cm.Natural(1e40))
    with pytest.raises(DivergenceError, match="diverged") as caught:
        runs_of(e)
    assert type(caught.value) is DivergenceError
    # Whichever run is found first: without numbers the oracle may draw an arm that is not there.
    for run in range(70):
        found = why_not_finite(e, key=7434755675892716031, run=run, update=1)
        assert type(found) is DivergenceError


def test_late_poles_are_found_quickly() -> None:
    e = BASE.replace(baseline=cm.baseline("sum(pi * r) + 0.001 / (t - 123457)"), steps=300_000)
    e = e.replace(record=cm.Record("value"))
    with pytest.raises(NonFiniteError, match=r"update 123457: .* 0\.001 / \(t - 123457\)"):
        cm.run(e, runs=3, rng=1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"baseline": cm.baseline("log(0.6 - max(pi)) * 0")}, "baseline.* log"),
        (
            {
                "update": cm.update("score / (t - 5)")(0.1),
                "optimiser": cm.optimiser("where(g > 0, 1, -1)"),
            },
            "update 5: .*update",
        ),
    ],
)
def test_what_another_formula_hides_is_seen(changes: dict[str, Any], words: str) -> None:
    """The update looks at neither A nor w; the optimiser masks."""
    hides = BASE.replace(update=cm.update("R * score")(0.1), steps=200, **{"estimator.samples": 2})
    runs_of(hides)
    with pytest.raises(NonFiniteError, match=words):
        runs_of(hides.replace(**changes))
    # What a formula masks itself is its own business.
    guarded = cm.baseline("where(max(pi) < 0.6, log(0.6 - max(pi)), 0)")
    runs_of(hides.replace(baseline=guarded))


# -- what depends on the time ----------------------------------------------------------------------


@pytest.mark.parametrize("arms", [3, 40])
@pytest.mark.parametrize("update", [cm.Vanilla(0.1), cm.Natural(0.01)], ids=repr)
def test_what_depends_on_the_time_is_there_for_every_update(arms: int, update: Any) -> None:
    """It is computed for many updates at once: more of them than a block has lanes."""
    e = cm.Experiment(
        cm.Bandit(np.linspace(1, 0, arms)), cm.Softmax(np.linspace(0, 1, arms)), update,
        cm.baseline("sum(pi * r) - 1 / (1 + t)**0.5"), optimiser=cm.Adam(), steps=150,
        record=cm.Record("theta", "policy", "baseline", every=1),
    )  # fmt: skip
    data = cm.run(e, runs=2, rng=3)
    want = reference.simulate(e, key=int(data.attrs["key"], 16), run=1)
    np.testing.assert_allclose(data["theta"][1], want["theta"], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(data["baseline"][1], want["baseline"], rtol=1e-9, atol=1e-10)
    # Weights follow short steps by a series, long ones and some others by exponentials.
    weights = np.exp(data["theta"] - data["theta"].max("arm"))
    policy = (weights / weights.sum("arm")).transpose(*data["policy"].dims)
    np.testing.assert_allclose(data["policy"], policy, rtol=1e-13)
    # Where records are made changes nothing, nor does what computes it.
    rare = e.replace(record=cm.Record("theta", every=67))
    for isa in _core.available()["isas"]:
        again = cm.run(rare, runs=2, rng=3, isa=isa)
        assert (again["theta"] == data["theta"].sel(time=again["time"])).all()


@pytest.mark.parametrize("arms", [3, 20])
@pytest.mark.parametrize("isa", _core.available()["isas"])
@pytest.mark.parametrize("policy", [cm.Softmax, cm.link("exp(theta)")])
@pytest.mark.parametrize("update", [cm.update("score * 1e16")(1.0), cm.Vanilla(1e16)], ids=repr)
def test_the_score_keeps_its_digits_next_to_a_corner(
    arms: int, isa: str, policy: Any, update: Any
) -> None:
    if policy is cm.Softmax and isinstance(update, cm.Vanilla):
        pytest.skip("has no score of its own")
    theta = np.zeros(arms)
    theta[1] = 40.0
    e = cm.Experiment(
        cm.Bandit(np.linspace(1, 0, arms)), policy(theta), update, steps=2,
        record=cm.Record("theta", every=1),
    )  # fmt: skip
    data = cm.run(e, runs=2, rng=3, isa=isa)
    want = reference.simulate(e, key=int(data.attrs["key"], 16), run=0)["theta"]
    moved = data["theta"].values[0] - theta
    assert abs(moved[1, 1]) > 0.04 * 0.4
    np.testing.assert_allclose(moved[1], want[1] - theta, rtol=1e-12)
    np.testing.assert_allclose(data["theta"].values[0], want, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("arms", [3, 20])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("optimiser", [cm.Normalised(), cm.Adam(eps=1e-30)], ids=repr)
def test_optimisers_that_know_no_size_go_on_next_to_a_corner(
    arms: int, samples: int, optimiser: Any
) -> None:
    theta = np.zeros(arms)
    theta[1] = 38.0  # 1 - pi has no digit
    e = cm.Experiment(
        cm.Bandit(np.linspace(1, 0.1, arms)), cm.Softmax(theta), cm.Vanilla(0.1), steps=40,
        estimator=cm.OneSample(samples), optimiser=optimiser, record=cm.Record("theta", every=1),
    )  # fmt: skip
    data = cm.run(e, runs=2, rng=3)
    want = reference.simulate(e, key=int(data.attrs["key"], 16), run=1)["theta"]
    np.testing.assert_allclose(data["theta"].values[1], want, rtol=1e-9)
    assert data["theta"].values[1, -1, 1] > 39.0


@pytest.mark.parametrize("arms", [3, 20])
@pytest.mark.parametrize("samples", [1, 4])
def test_what_is_recorded_changes_no_bit(arms: int, samples: int) -> None:
    e = cm.Experiment(
        cm.Bandit(np.linspace(1, 0, arms)), cm.Softmax(), cm.Vanilla(0.1), 0.3, steps=40,
        estimator=cm.OneSample(samples), optimiser=cm.Adam(),
    )  # fmt: skip
    plain, looked = (
        cm.run(e.replace(record=cm.Record("theta", *more, every=7)), runs=5, rng=3)["theta"]
        for more in ((), (cm.quantity("mean(A)", name="own"),))
    )
    assert plain.values.tobytes() == looked.values.tobytes()


def test_the_oracle_knows_implicit_exploration_with_a_link() -> None:
    e = cm.Experiment(
        cm.Bandit([1, 0.5, 0]), cm.Escort([1, 2, 3]), cm.Vanilla(0.1), steps=20,
        estimator=cm.OneSample(implicit=0.05), record=cm.Record("theta", every=1),
    )  # fmt: skip
    data = cm.run(e, runs=1, rng=3)
    want = reference.simulate(e, key=int(data.attrs["key"], 16), run=0)["theta"]
    np.testing.assert_allclose(data["theta"].values[0], want, rtol=1e-9)


@pytest.mark.parametrize("isa", _core.available()["isas"])
@pytest.mark.parametrize(
    ("two_axes", "one_axis"),
    [
        ("mean(sum(pi * onehot(a), over='arms'))", "mean(pi[a])"),
        ("mean(sum(onehot(a) * pi, over='arms'))", "mean(pi[a])"),
        ("min(sum(pi * R, over='arms'))", "min(R)"),
        ("mean(dot(r, onehot(a), over='arms'))", "mean(r[a])"),
        ("max(mean(pi * R, over='samples'))", "max(pi) * mean(R)"),
    ],
)
def test_products_of_arms_and_samples(two_axes: str, one_axis: str, isa: str) -> None:
    e = cm.Experiment(
        cm.Bandit([1, 0.5, 0.25]),
        cm.Softmax([0, 0.1, 0.2]),
        cm.Vanilla(0.2),
        cm.baseline(two_axes),
        estimator=cm.OneSample(samples=4),
        steps=5,
        record=cm.Record("baseline", "theta", every=1),
    )
    a = cm.run(e, runs=70, rng=1, isa=isa)
    b = cm.run(e.replace(baseline=cm.baseline(one_axis)), runs=70, rng=1, isa=isa)
    np.testing.assert_allclose(a["baseline"], b["baseline"], rtol=1e-12)
    np.testing.assert_allclose(a["theta"], b["theta"], rtol=1e-12, atol=1e-14)


def test_a_quotient_of_a_number_by_itself_is_one() -> None:
    leaders = cm.baseline("sum(where(r / max(r) >= 1, 1, 0))")
    e = cm.Experiment(
        cm.Bandit([49, 0.7, 0]), cm.Softmax(), cm.Vanilla(0.001), leaders, steps=2,
        record=cm.Record("baseline", every=1),
    )  # fmt: skip
    assert (cm.run(e, runs=3, rng=0)["baseline"] == 1.0).all()
