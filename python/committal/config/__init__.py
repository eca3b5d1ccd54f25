"""What to simulate: validated, immutable descriptions that print, compare, hash and serialise.

A name is public if its module's ``__all__`` says so; there is no second list here. Importing this
package loads every part, so that files and dictionaries can name any of them.
"""

from committal.config.bandit import *
from committal.config.base import *
from committal.config.baselines import *
from committal.config.behaviours import *
from committal.config.critic import *
from committal.config.escort import *
from committal.config.estimators import *
from committal.config.experiment import *
from committal.config.formula_baseline import *
from committal.config.formula_quantity import *
from committal.config.formula_update import *
from committal.config.formulas import *
from committal.config.gridworld import *
from committal.config.groups import *
from committal.config.linear import *
from committal.config.links import *
from committal.config.mdp import *
from committal.config.named_weights import *
from committal.config.optimisers import *
from committal.config.policies import *
from committal.config.precision import *
from committal.config.problem import *
from committal.config.quantities import *
from committal.config.record import *
from committal.config.regularisers import *
from committal.config.scaled import *
from committal.config.schedules import *
from committal.config.snapshot import *
from committal.config.spelled import *
from committal.config.updates import *
from committal.config.weights import *

# isort: split
# After the classes of problems, so that bandits are listed first.
from committal.config import maps as maps

grids = maps  # its first name
