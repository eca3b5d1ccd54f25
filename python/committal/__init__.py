"""A microscope for policy-gradient dynamics.

Describe an experiment, run it many times, look at what happened:

>>> import committal as cm
>>> exp = cm.Experiment(
...     problem=cm.Bandit([1.0, 0.7, 0.0]),
...     policy=cm.Softmax([0, 3, 5]),
...     update=cm.Natural(step_size=0.025),
...     baseline=cm.MinVariance() + 0.5,
...     steps=1000,
... )
>>> data = cm.run(exp, runs=200, rng=0)
>>> float(cm.failure_rate(data, below=0.9)) < 0.05
True

What is public is listed once, in ``__init__.pyi``, and loaded when it is first used.
"""

import builtins

import lazy_loader

from committal._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# `from committal import *` must not hide Python's own open(), sum(), abs() and their like.
__all__ = [*(name for name in __all__ if not hasattr(builtins, name)), "__version__"]
