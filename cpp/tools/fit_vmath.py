"""Recompute the polynomial coefficients of cpp/src/kernels/vmath.hpp.

    exp(r)   = 1 + r + r^2 q(r)              |r| <= ln(2)/2
    log(1+f) = f - (f^2/2 - s (f^2/2 + z p(z)))   s = f/(2+f), z = s^2, |s| <= 3 - 2 sqrt(2)

Near-minimax fits in 60 digits (Chebyshev interpolation), rounded to double. Needs mpmath.
"""

from mpmath import chebyfit, exp, log, mp, mpf, sqrt

mp.dps = 60


def show(name: str, function, interval, terms: int) -> None:
    """Print the coefficients of a near-minimax polynomial, lowest power first."""
    coefficients, error = chebyfit(function, interval, terms, error=True)
    print(f"// {name}: absolute error {mp.nstr(error, 3)}")
    for power, coefficient in enumerate(reversed(coefficients)):
        print(f"{name}{power} = {float(coefficient).hex()}  ({float(coefficient)!r})")


def exp_tail(r):
    """(exp(r) - 1 - r) / r^2, by its series near 0."""
    if abs(r) < mpf("1e-15"):
        return mpf(1) / 2 + r / 6
    return (exp(r) - 1 - r) / r**2


def log_tail(z):
    """p with log((1+s)/(1-s)) = 2 s + s z p(z), z = s^2."""
    if z < mpf("1e-25"):
        return mpf(2) / 3 + 2 * z / 5
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) / s - 2) / z


if __name__ == "__main__":
    half = log(2) / 2 * mpf("1.0001")
    show("kExp", exp_tail, [-half, half], 10)
    show("kLog", log_tail, [mpf(0), (3 - 2 * sqrt(mpf(2))) ** 2 * mpf("1.001")], 7)
