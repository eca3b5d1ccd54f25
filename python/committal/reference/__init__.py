"""The oracle: every experiment, one run at a time, as plainly as the paper writes it."""

from committal.reference.bandit import *
