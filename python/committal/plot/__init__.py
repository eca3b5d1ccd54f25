"""Pictures of results.

Every function takes the Axes to draw into (``ax=None`` makes a new figure), returns them, shows
nothing and leaves the global style alone.
"""

from committal.plot.bands import bands
from committal.plot.curves import learning_curves
from committal.plot.heatmap import heatmap
from committal.plot.maze import grid, visits
from committal.plot.panels import panels
from committal.plot.simplex import simplex
from committal.plot.survival import survival

__all__ = ["bands", "grid", "heatmap", "learning_curves", "panels", "simplex", "survival", "visits"]
