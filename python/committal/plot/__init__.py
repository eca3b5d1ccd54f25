"""Pictures of results.

Every function takes the Axes to draw into (``ax=None`` makes a new figure), returns them, shows
nothing and leaves the global style alone.
"""

from committal.plot.animate import *
from committal.plot.bands import *
from committal.plot.curves import *
from committal.plot.heatmap import *
from committal.plot.maze import *
from committal.plot.panels import *
from committal.plot.simplex import *
from committal.plot.survival import *
