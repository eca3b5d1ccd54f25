"""Mathematics in words, set as mathematics: sub- and superscripts, Greek letters, powers of ten.

Findings are written so that a terminal can show them: ``t eps_t^2 -> infinity``. A page can do
better, without fetching anything.
"""

from __future__ import annotations

import re
from html import escape

_GREEK = {
    "alpha": "α",
    "beta": "β",
    "epsilon": "ε",
    "eps": "ε",
    "gamma": "γ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "sigma": "σ",
    "tau": "τ",
    "theta": "θ",
}
_LETTER = "[A-Za-zα-ωθπ]"
_CODE = re.compile(r"[A-Z]\w*\(|[\w.]+=")
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), result)
    for pattern, result in (
        (r"-&gt; infinity\b", "→ ∞"),
        (r"-&gt;", "→"),
        (r"&lt;=", "≤"),
        (r"&gt;=", "≥"),
        (r"\bgrad (?=log\b)", "∇ "),
        # 1e-9 is a power of ten, 1.75e-15 a multiple of one.
        (r"(?<![\w.])1e\+?(-?)0*(\d+)\b", r"10<sup>\1\2</sup>"),
        (r"(?<![\w.])(\d+(?:\.\d+)?)e\+?(-?)0*(\d+)\b", r"\1 · 10<sup>\2\3</sup>"),
        (r"(?<!\w)b\*", "b<sup>*</sup>"),
        (rf"(?<!\w)({_LETTER})_(\w+)", r"\1<sub>\2</sub>"),
        (r"(?<!\w)θ(\d)(?!\w)", r"θ<sub>\1</sub>"),
        (r"\^(\w+)", r"<sup>\1</sup>"),
        (r"(?<=\S) - (?=\S)", " − "),
        (r"(?<=[ (>\[])-(?=\d)", "−"),
    )
)
_WORDS = re.compile(rf"(?<!\w)({'|'.join(_GREEK)})(?=[\W_\d]|$)")


def mathematics(text: str) -> str:
    """Return a text as HTML, with its mathematics set.

    What is code, such as ``Natural(step_size=0.1)``, stays as it is.

    Examples
    --------
    >>> mathematics("t eps_t^2 -> infinity, P(theta_1 > 0) <= 1e-9")
    't ε<sub>t</sub><sup>2</sup> → ∞, P(θ<sub>1</sub> &gt; 0) ≤ 10<sup>−9</sup>'
    >>> mathematics("V = b* - Cov(r, |grad log pi|^2)")
    'V = b<sup>*</sup> − Cov(r, |∇ log π|<sup>2</sup>)'
    >>> mathematics("Natural(step_size=0.1)")
    'Natural(step_size=0.1)'
    """
    if _CODE.match(text):
        return escape(text)
    text = _WORDS.sub(lambda found: _GREEK[found[1]], escape(text))
    for pattern, result in _RULES:
        text = pattern.sub(result, text)
    return text
