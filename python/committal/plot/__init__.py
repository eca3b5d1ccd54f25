"""Pictures of results.

Every function takes the Axes to draw into (``ax=None`` makes a new figure), returns them, shows
nothing and leaves the global style alone.
"""

from committal.plot.curves import learning_curves
from committal.plot.panels import panels
from committal.plot.simplex import simplex

__all__ = ["learning_curves", "panels", "simplex"]
