"""Ideas as a researcher would write them, in bandits and in four rooms, against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import _core, reference

BANDIT = cm.Experiment(
    cm.Bandit([0.9, 0.7, 0.1], noise="bernoulli"), cm.Softmax([0, 0.5, 1]), cm.Vanilla(0.3),
    cm.Value(), cm.UniformMixture(0.3), cm.OneSample(samples=4), steps=12,
    record=cm.Record("theta", "action", every=3),
)  # fmt: skip
ROOMS = cm.Experiment(
    cm.maps.four_rooms(), cm.Softmax(), cm.Vanilla(0.3), 0.0, estimator=cm.ExactQ(), steps=4,
    record=cm.Record("theta", "length", every=2),
)  # fmt: skip

# -- baselines -------------------------------------------------------------------------------------


@cm.baseline
def soft_value(r: Any, *, tau: Any = 0.1) -> Any:
    return tau * cm.logsumexp(r / tau)


@cm.baseline
def entropy_value(pi: Any, r: Any, *, tau: Any = 0.1) -> Any:
    return (pi * (r - tau * cm.log(pi))).sum()


@cm.baseline
def mellowmax(r: Any, K: Any, *, omega: Any = 5) -> Any:
    return (cm.logsumexp(omega * r) - cm.log(K)) / omega


@cm.baseline(state={"q": 0.0})
def critic_per_arm(pi: Any, R: Any, a: Any, q: Any, *, rate: Any = 0.2) -> Any:
    error = ((R - q[a]) * cm.onehot(a)).mean(over="samples")
    return (pi * q).sum(), {"q": q + rate * error}


@cm.baseline(state={"before": 0.0})
def last_policy(pi: Any, r: Any, before: Any) -> Any:
    return (before * r).sum(), {"before": pi}


# -- weights ---------------------------------------------------------------------------------------


@cm.weight
def ppo(A: Any, rho: Any, *, eps: Any = 0.2) -> Any:
    outside = ((A > 0) & (rho > 1 + eps)) | ((A < 0) & (rho < 1 - eps))
    return cm.where(outside, 0, rho)


@cm.weight
def asymmetric(A: Any, rho: Any, *, down: Any = 0.3) -> Any:
    return rho * cm.where(A > 0, 1, down)


@cm.weight
def delight(A: Any, pi: Any, a: Any, rho: Any, *, eta: Any = 1.0) -> Any:
    return rho * cm.sigmoid(-A * cm.log(pi[a]) / eta)


@cm.weight
def huber(A: Any, rho: Any, *, delta: Any = 0.5) -> Any:
    return rho * cm.minimum(1, delta / cm.maximum(abs(A), 1e-9))


@cm.weight
def smooth_clip(rho: Any, *, top: Any = 2.0) -> Any:
    return top * cm.tanh(rho / top)


# -- updates ---------------------------------------------------------------------------------------


@cm.update
def grpo(R: Any, rho: Any, score: Any, *, eps: Any = 1e-4) -> Any:
    return (R - R.mean()) / (R.std() + eps) * rho * score


@cm.update
def log_barrier(A: Any, rho: Any, score: Any, pi: Any, K: Any, *, lam: Any = 0.01) -> Any:
    return (A * rho * score).mean(over="samples") + lam * (1 / K - pi)


@cm.update
def advantage_weighted(A: Any, rho: Any, score: Any, *, beta: Any = 0.5) -> Any:
    return cm.minimum(cm.exp(A / beta), 20) * rho * score


@cm.update
def pulled_back(A: Any, rho: Any, score: Any, pi: Any, theta: Any, *, beta: Any = 0.1) -> Any:
    return A * rho * score - beta * pi * (theta - (pi * theta).sum())


@cm.update
def cross_entropy(R: Any, score: Any) -> Any:
    return (R == R.max()) * score  # noqa: SIM300


# -- optimisers ------------------------------------------------------------------------------------


@cm.optimiser
def trust_region(g: Any, *, delta: Any = 0.1) -> Any:
    return g * cm.minimum(1, delta / cm.sqrt(g @ g + 1e-12))


@cm.optimiser(state={"s": 1.0})
def rms(g: Any, s: Any, *, beta: Any = 0.9) -> Any:
    s = beta * s + (1 - beta) * (g * g).sum()
    return g / cm.sqrt(s + 1e-8), {"s": s}


@cm.optimiser(state={"m": 0.0, "v": 0.0})
def adamw(
    g: Any, theta: Any, t: Any, m: Any, v: Any, *, b1: Any = 0.9, b2: Any = 0.99, decay: Any = 0.01
) -> Any:
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    m_hat, v_hat = m / (1 - b1 ** (t + 1)), v / (1 - b2 ** (t + 1))
    return m_hat / (cm.sqrt(v_hat) + 1e-3) - decay * theta, {"m": m, "v": v}


# -- quantities ------------------------------------------------------------------------------------


@cm.quantity
def tsallis(pi: Any, *, q: Any = 1.5) -> Any:
    return (1 - (pi**q).sum()) / (q - 1)


@cm.quantity
def renyi(pi: Any, *, alpha: Any = 0.5) -> Any:
    return cm.log((pi**alpha).sum()) / (1 - alpha)


@cm.quantity
def second_largest(pi: Any) -> Any:
    return cm.where(pi < pi.max(), pi, 0).max()


@cm.quantity
def greedy_value(pi: Any, r: Any) -> Any:
    best = pi == pi.max()
    return (best * r).sum() / best.sum()


@cm.quantity
def effective_samples(rho: Any) -> Any:
    return rho.sum() ** 2 / (rho**2).sum()


@cm.quantity
def gradient_norm(pi: Any, r: Any) -> Any:
    return cm.sqrt(((pi * (r - (pi * r).sum())) ** 2).sum())


@cm.quantity
def flattened(theta: Any, *, tau: Any = 3) -> Any:
    return cm.softmax(theta / tau)


QUANTITIES = (tsallis, renyi, second_largest, greedy_value, effective_samples, gradient_norm)
W = "estimator.weight"
IN_BANDITS: dict[str, dict[str, Any]] = {
    "soft value": {"baseline": soft_value},
    "value with entropy": {"baseline": entropy_value(tau=0.2) - 0.1},
    "mellowmax": {"baseline": mellowmax},
    "leave one out": {"baseline": cm.baseline("others(R, 'mean')")},
    "critic per arm": {"baseline": critic_per_arm},
    "last policy": {"baseline": last_policy},
    "ppo": {W: ppo},
    "asymmetric": {W: asymmetric(down=0.1)},
    "delight": {W: delight(eta=0.5)},
    "huber": {W: huber},
    "smooth clip": {W: smooth_clip},
    "self-normalised": {W: cm.weight("rho / mean(rho)")},
    "bonus": {W: cm.weight("rho * (1 + c / sqrt(t + 1) * (1 - pi[a]))", c=0.5)},
    "grpo": {"update": grpo(step_size=0.2)},
    "log barrier": {"update": log_barrier(step_size=0.3)},
    "advantage-weighted": {"update": advantage_weighted(step_size=0.1)},
    "pulled back": {"update": pulled_back(step_size=0.2)},
    "cross-entropy": {"update": cross_entropy(step_size=0.2)},
    "tempered": {"policy": cm.link("exp(theta / tau)", tau=0.5)([0, 0.5, 1])},
    "softplus": {"policy": cm.link("softplus(theta)")([0, 0.5, 1])},
    "escort": {"policy": cm.link("abs(theta)**p", p=3)([0.2, 0.5, 1])},
    "trust region": {"optimiser": trust_region},
    "rms": {"optimiser": rms},
    "adamw": {"optimiser": adamw},
    "quantities": {"record": cm.Record("theta", flattened, *QUANTITIES, every=3)},
}
IN_ROOMS: dict[str, dict[str, Any]] = {
    "soft value": {"baseline": soft_value},
    "value with entropy": {"baseline": entropy_value},
    "scheduled": {"baseline": cm.baseline("max(r) * exp(-t / 9) + (1 - exp(-t / 9)) * sum(pi*r)")},
    "ppo": {W: ppo(eps=0.1), "behaviour": cm.UniformMixture(0.3)},
    "delight": {W: delight},
    "huber": {W: huber},
    "asymmetric": {"estimator": cm.Reinforce(weight=asymmetric)},
    "log barrier": {"update": log_barrier(step_size=0.3)},
    "advantage-weighted": {"update": advantage_weighted(step_size=0.1)},
    "pulled back": {"update": pulled_back(step_size=0.2)},
    "trust region": {"optimiser": trust_region},
    "rms": {"optimiser": rms},
    "adamw": {"optimiser": adamw},
}


def agrees(e: cm.Experiment) -> None:
    data = cm.run(e, runs=2, rng=3)
    assert data.equals(cm.run(e, runs=2, rng=3, isa=_core.available()["isas"][0]))
    key, times = int(data.attrs["key"], 16), data["time"].values
    for run in range(2):
        want = reference.simulate(e, key=key, run=run)
        for name in data.data_vars:
            got = data[name].values[run]
            np.testing.assert_allclose(
                got, want[str(name)][times], rtol=1e-8, atol=1e-10, err_msg=str(name)
            )
    assert cm.Experiment.from_toml(e.to_toml()) == e


@pytest.mark.parametrize("idea", IN_BANDITS)
def test_bandits(idea: str) -> None:
    agrees(BANDIT.replace(**IN_BANDITS[idea]))


@pytest.mark.parametrize("idea", IN_ROOMS)
def test_four_rooms(idea: str) -> None:
    agrees(ROOMS.replace(**IN_ROOMS[idea]))


def test_states_that_are_vectors_from_the_beginning() -> None:
    text = cm.baseline("sum(pi * q)", state={"q": (0.0, "q + mean((R - q[a]) * onehot(a), over='samples')")})  # fmt: skip  # noqa: E501
    assert text.tree.shapes["q"] == "arm"
    # What can be a number stays one.
    assert cm.baseline("v", state={"v": (0.0, "v + mean(R)")}).tree.shapes["v"] == "run"
