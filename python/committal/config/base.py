"""What every configuration object shares: immutability, printing, text forms and the hash.

A configuration class is written as a `Config` subclass under the decorator `config`, with its
attributes annotated and an ``__init__`` that checks and stores them. Everything else follows from
the signature of that ``__init__``: the repr shows the arguments that differ from their defaults,
``to_dict`` writes all of them, ``from_dict`` and ``replace`` go through ``__init__`` again, so no
way leads to an object that was not validated.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from committal.errors import ConfigError, ConfigTypeError, FormulaError
from committal.support import check
from committal.support.notation import NotationError, json_of, refuse_depth, toml_of

__all__ = ["Config", "kinds"]

C = TypeVar("C", bound="Config")

_KINDS: dict[str, type[Config]] = {}


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@dataclass_transform(frozen_default=True)
def config(cls: type[C]) -> type[C]:
    """Make a `Config` subclass a frozen dataclass with slots and register its kind.

    The kind is the name of the class in snake case: ``OneSample`` is ``"one_sample"``.
    """
    made = cast(
        "type[C]",
        dataclasses.dataclass(frozen=True, slots=True, repr=False, init=False)(cls),
    )
    kind = _snake_case(made.__name__)
    if kind in _KINDS:
        raise TypeError(f"two configuration classes of kind {kind!r}")
    signature = inspect.signature(made).parameters.values()
    made._kind = kind
    made._parameters = tuple(p.name for p in signature)
    made._defaults = {p.name: p.default for p in signature if p.default is not p.empty}
    _KINDS[kind] = made
    return made


def kinds(family: type[C]) -> dict[str, type[C]]:
    """Return the registered classes of a family, by kind.

    Examples
    --------
    >>> from committal.config import Policy
    >>> sorted(kinds(Policy))
    ['direct', 'escort', 'formula_policy', 'scaled_softmax', 'sigmoid', 'softmax', 'tsallis']
    """
    return {kind: cls for kind, cls in _KINDS.items() if issubclass(cls, family)}


def called(cls: type[Config]) -> str:
    """What messages call a class: its name, or the function that makes a formula.

    Examples
    --------
    >>> from committal.config import FormulaPolicy, Softmax
    >>> called(Softmax), called(FormulaPolicy)
    ('Softmax', 'cm.link(...)')
    """
    return f"cm.{cls.role}(...)" if cls.role else cls.__name__


def refuse_subclass(argument: str, value: Config) -> None:
    """Refuse an object of a class that only derives from a part: nothing knows how to run it.

    Examples
    --------
    >>> from committal.config import Softmax
    >>> class Mine(Softmax):
    ...     pass
    >>> refuse_subclass("Experiment.policy", Mine())
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: Experiment.policy = Mine() is not allowed; expected one of \
Direct, Escort, ScaledSoftmax, Sigmoid, Softmax, Tsallis, cm.link(...) itself: Mine is derived \
from Softmax, and what a subclass changes does not reach the compiled core; a formula does \
(committal.baseline, weight, update, link, optimiser, quantity), and CONTRIBUTING.md says how to \
add a part
    """
    cls = type(value)
    if _KINDS.get(cls._kind) is cls:
        return
    parent = next((base for base in cls.__mro__ if base in _KINDS.values()), cls.__mro__[1])
    family = parent.__mro__[1] if parent in _KINDS.values() else parent
    same = [called(found) for found in _KINDS.values() if issubclass(found, family)]
    raise ConfigTypeError(
        argument,
        value,
        f"one of {', '.join(sorted(same))} itself: {cls.__name__} is derived from "
        f"{parent.__name__}, and what a subclass changes does not reach the compiled core; a "
        "formula does (committal.baseline, weight, update, link, optimiser, quantity), and "
        "CONTRIBUTING.md says how to add a part",
    )


def refuse_unwritable(argument: str, value: object) -> None:
    """Refuse names that no file can hold: halves of characters (lone surrogates).

    Examples
    --------
    >>> refuse_unwritable("Bandit.names", ("left", "\\ud800"))
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: Bandit.names = ('left', '\\ud800') is not allowed; expected text \
that can be written as UTF-8 (no lone surrogates)
    """
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, tuple) or not names or not isinstance(names[0], str):
        return
    try:
        "".join(name for name in names if isinstance(name, str)).encode()
    except UnicodeEncodeError:
        allowed = "text that can be written as UTF-8 (no lone surrogates)"
        raise ConfigError(argument, value, allowed) from None


class Config:
    """Base of all configuration objects: immutable values that print, compare, hash and pickle.

    Examples
    --------
    >>> from committal.config import Natural
    >>> update = Natural(step_size=0.1)
    >>> update
    Natural(step_size=0.1)
    >>> update.to_dict()
    {'kind': 'natural', 'step_size': 0.1, 'entropy': 0.0}
    >>> update == Natural.from_json(update.to_json())
    True
    >>> update.replace(step_size=0.2)
    Natural(step_size=0.2)
    """

    __slots__ = ()

    # What `config` finds out: the kind, the names of the arguments and those with defaults.
    _kind: ClassVar[str] = ""
    _parameters: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    #: Of a formula, the function that makes it; empty for what has a class of its own.
    role: ClassVar[str] = ""
    #: How many leading arguments the repr shows without their names.
    _positional: ClassVar[int] = 0

    @property
    def _own_name(self) -> str:
        """What errors call it in front of an argument."""
        return self.role or type(self).__name__

    # -- construction ---------------------------------------------------------------------------

    def _set(self, **values: object) -> None:
        """Store checked values; only ``__init__`` calls this."""
        for name, value in values.items():
            if isinstance(value, Config):
                refuse_subclass(f"{self._own_name}.{name}", value)
            refuse_unwritable(f"{self._own_name}.{name}", value)
            object.__setattr__(self, name, value)

    def _arguments(self) -> dict[str, Any]:
        """Return arguments that rebuild this object, in their simplest form.

        It is the single source of the repr, of the text forms, of the hash and of `replace`.
        """
        return {name: getattr(self, name) for name in self._parameters}

    @classmethod
    def _build(cls, arguments: Mapping[str, Any]) -> Self:
        """Call the constructor with the arguments that `_arguments` returns."""
        return cls(**arguments)

    def replace(self, /, **changes: Any) -> Self:
        """Return a copy with some arguments changed, validated again.

        Parameters
        ----------
        **changes
            New values by argument name. A dotted path reaches into a part:
            ``replace(**{"update.step_size": 0.1})``. Whole parts are replaced before their
            insides.

        Examples
        --------
        >>> from committal.config import Bandit, Experiment, Natural, Softmax
        >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=0.1), steps=10)
        >>> exp.replace(**{"update.step_size": 0.5}, steps=20).update
        Natural(step_size=0.5)
        """
        arguments = self._arguments()
        inner: dict[str, dict[str, Any]] = {}
        for path, value in changes.items():
            head, _, rest = path.partition(".")
            if head not in arguments:
                raise ConfigError(
                    f"{self._own_name}.{head}",
                    value,
                    check.one_of(head, arguments, "the arguments"),
                )
            families = _families(type(self)).get(head, ())  # type: ignore[arg-type]
            if rest:
                inner.setdefault(head, {})[rest] = value
            elif isinstance(value, Mapping) and families:
                arguments[head] = _decode(value, families, f"{self._own_name}.{head}")
            else:
                arguments[head] = value
        for head, below in inner.items():
            part = arguments[head]
            if not isinstance(part, Config):
                rest, value = next(iter(below.items()))
                raise ConfigError(
                    f"{self._own_name}.{head}.{rest}",
                    value,
                    f"a path that exists: {head} is {part!r}, which has no parts",
                )
            arguments[head] = part.replace(**below)
        return self._build(arguments)

    # -- text forms -----------------------------------------------------------------------------

    def __repr__(self) -> str:
        shown: list[str] = []
        for index, (name, value) in enumerate(self._arguments().items()):
            if name in self._defaults and self._defaults[name] == value:
                continue
            # A leading argument may go without its name only if none before it was left out.
            bare = index < self._positional and len(shown) == index
            shown.append(written(value) if bare else f"{name}={written(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of plain values: ``{"kind": ..., argument: value, ...}``.

        Arguments that are None are left out.

        Examples
        --------
        >>> from committal.config import Softmax
        >>> Softmax([0, 3]).to_dict()
        {'kind': 'softmax', 'theta0': [0.0, 3.0]}
        """
        plain = {name: _encode(value) for name, value in self._arguments().items()}
        return {"kind": self._kind} | {k: v for k, v in plain.items() if v is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], /) -> Self:
        """Build an object from `to_dict`'s output; errors name the path of keys.

        Called on a family (``Policy.from_dict``) or on `Config` it builds whatever ``kind`` says;
        called on a class, ``kind`` may be missing.

        Examples
        --------
        >>> from committal.config import Baseline
        >>> Baseline.from_dict({"kind": "min_variance", "metric": "natural"})
        MinVariance(metric='natural')
        >>> Baseline.from_dict({"kind": "min_variance", "metrics": "natural"})
        Traceback (most recent call last):
            ...
        committal.errors.ConfigError: metrics = 'natural' is not allowed; expected one of the keys \
'kind', 'metric', 'lam'; did you mean 'metric'?
        """
        try:
            refuse_depth(data)
        except NotationError as error:
            raise ConfigError("data", type(data), f"plain data ({error})") from None
        made: Self = _decode_part(data, (cls,), "")
        return made

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text.

        Examples
        --------
        >>> from committal.config import Value
        >>> Value().to_json(indent=None)
        '{"kind": "value"}'
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, /) -> Self:
        """Build an object from JSON text.

        Examples
        --------
        >>> Config.from_json('{"kind": "constant", "c": 1}')
        Constant(1.0)
        """
        return cls.from_dict(_parsed(json_of, text, "JSON"))

    def to_toml(self) -> str:
        """Return `to_dict` as TOML text.

        Examples
        --------
        >>> from committal.config import Natural
        >>> print(Natural(step_size=0.1).to_toml(), end="")
        kind = "natural"
        step_size = 0.1
        entropy = 0.0
        """
        # Imported here: writing TOML is rare, and the import of the package is to be quick.
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(cls, text: str, /) -> Self:
        """Build an object from TOML text.

        Examples
        --------
        >>> from committal.config import Natural
        >>> Natural.from_toml("step_size = 0.1")
        Natural(step_size=0.1)
        """
        return cls.from_dict(_parsed(toml_of, text, "TOML"))

    @property
    def hash(self) -> str:
        """SHA-256, in hexadecimal, of the canonical JSON form.

        Canonical: sorted keys, no spaces, floats in their shortest form, None left out. Numbers
        were made floats where floats are meant, so ``1`` and ``1.0`` have one hash. Unlike
        ``hash(x)`` it is the same in every process.

        Examples
        --------
        >>> from committal.config import Constant
        >>> Constant(1).hash == Constant(1.0).hash
        True
        """
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def changeable(part: Config) -> tuple[str, ...]:
    """The names that `replace` of a part knows: its arguments, and the parameters of a formula.

    Examples
    --------
    >>> from committal.config import Constant
    >>> changeable(Constant(1))
    ('c',)
    """
    return (*part._parameters, *(name for name, _ in getattr(part, "parameters", ())))


# -- printing and encoding of one value ------------------------------------------------------------


def written(value: object) -> str:
    """Write an argument so that it can be read back.

    Examples
    --------
    >>> written((1.0,) * 1000)
    '(1.0,) * 1000'
    """
    # A thousand equal numbers are read, and evaluated, more easily as a product.
    if isinstance(value, tuple) and len(value) > 8 and value.count(value[0]) == len(value):
        return f"({written(value[0])},) * {len(value)}"
    return repr(value)


def _encode(value: object) -> object:
    if isinstance(value, Config):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _encode(item) for key, item in value.items()}
    return value


# -- decoding --------------------------------------------------------------------------------------


@functools.cache
def _families(cls: type[Config]) -> dict[str, tuple[type[Config], ...]]:
    """Which configuration classes each attribute may hold, according to its annotation."""

    def classes(hint: Any) -> set[type[Config]]:
        if isinstance(hint, type) and issubclass(hint, Config):
            return {hint}
        return {found for part in typing.get_args(hint) for found in classes(part)}

    hints = {name: classes(hint) for name, hint in typing.get_type_hints(cls).items()}
    return {
        name: tuple(sorted(found, key=lambda c: c.__name__))
        for name, found in hints.items()
        if found
    }


def _parsed(parse: Callable[[Any], Any], text: object, name: str) -> Any:
    if not isinstance(text, (str, bytes) if name == "JSON" else str):
        raise ConfigTypeError("text", text, f"a string of {name}")
    try:
        return parse(text)
    except NotationError as error:
        raise ConfigError("text", text, f"valid {name}: {error}") from None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _decode(value: Any, families: tuple[type[Config], ...], path: str) -> Any:
    """Build the configuration objects inside a value read from a dictionary."""
    if isinstance(value, Mapping):
        return _decode_part(value, families, path)
    if isinstance(value, (list, tuple)):
        return tuple(_decode(v, families, f"{path}[{i}]") for i, v in enumerate(value))
    return value


def _decode_part(data: Any, families: tuple[type[Config], ...], path: str) -> Any:
    if not isinstance(data, Mapping):
        raise ConfigTypeError(path or "data", data, "a mapping with the key 'kind'")
    known = {kind: cls for family in families for kind, cls in kinds(family).items()}
    kind = data.get("kind")
    if kind is None and "formula" in data:  # {formula = "..."}: what a part of one's own is called
        known_formulas = [k for k, cls in known.items() if "formula" in cls._parameters]
        kind = known_formulas[0] if len(known_formulas) == 1 else None
    if kind is None and len(known) == 1:
        (kind,) = known
    if not isinstance(kind, str) or kind not in known:
        raise ConfigError(_join(path, "kind"), kind, check.one_of(kind, known, "the kinds"))
    cls = known[kind]

    arguments: dict[str, Any] = {}
    names = cls._parameters
    inside = _families(cls)  # type: ignore[arg-type]  # a class is hashable, whatever its instances
    for key, value in data.items():
        if key == "kind":
            continue
        below = _join(path, key)
        if key not in names:
            raise ConfigError(below, value, check.one_of(key, ("kind", *names), "the keys"))
        # None, which TOML cannot write, means the same as leaving the key out.
        if value is not None:
            arguments[key] = _decode(value, inside[key], below) if key in inside else value
    for name in names:
        if name not in arguments and name not in cls._defaults:
            raise ConfigError(_join(path, name), None, "a value: this key is required")
    try:
        return cls._build(arguments)
    except ConfigError as error:
        # The constructor names its class; who wrote the dictionary knows the path of keys.
        inner = error.argument.partition(".")[2]
        below = _join(path, inner or ("formula" if isinstance(error, FormulaError) else ""))
        raise type(error)(below, error.value, error.allowed) from None
