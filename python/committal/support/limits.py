"""The limits of the package, each once: the check uses the constant and its message quotes it.

Those that the core has too are compared with ``_core.limits()`` by a test.
"""

from __future__ import annotations

#: Threads of one call.
THREADS = 4096

#: Random draws of one kind in one run: the counter of the streams has 56 bits for them.
DRAWS = 2**56

#: Runs, and updates of all runs of one call: signed 64-bit counts.
RUNS = 2**63 - 1

#: Samples per update.
SAMPLES = 2**31 - 1

#: Steps of an episode.
EPISODE = 2**31 - 1

#: Arms of a bandit, states and pairs (state, action) of an MDP: 32-bit integers number them.
ARMS = STATES = PAIRS = 2**31 - 1

#: Arms whose probabilities a regulariser's reference may say one by one.
REFERENCE = 100

#: Moves of theta with the samples of one update.
EPOCHS = 64

#: Operations of a formula, and registers of the program that it is lowered to.
OPERATIONS = 4096
REGISTERS = 8192

#: Whole exponents of a formula up to this are products; larger ones are powers.
POWER = 1024

#: Recorded times: more would not fit into memory with what is recorded at them.
TIMES = 2**28

#: Recorded times that are spaced logarithmically.
LOG_TIMES = 2**20

#: Entries of the table that a schedule is lowered to: 2 GiB.
SCHEDULE = 2**28

#: Magnitudes: products of a few numbers of this size are still far from overflow.
MAGNITUDE = 1e50

#: How far from 1 the sum of probabilities that somebody gives may be.
SUM = 1e-9

#: How far from 1 the sum of a policy to be evaluated may be, which may come from a simulation.
POLICY_SUM = 1e-6

#: Bins of a histogram.
BINS = 2**24

#: Points of one axis of a study.
POINTS = 10**6

#: Numbers that one exact answer or analysis lists: 1 GiB.
LISTED = 2**27

#: Updates that an exact answer goes through one after the other.
UPDATES = 2**26

#: Evaluations of the velocity of a gradient flow: minutes.
EVALUATIONS = 10**6

#: Arms whose corners are looked at all together: there are as many pairs as their square, and every
#: pair takes as long as there are arms.
CORNER_ARMS = 100


#: Frames of an animation: all of them are in memory and in its file.
FRAMES = 500
#: Seconds of an animation: a GIF has 16 bits for the hundredths of a frame.
FILM = 600.0
#: Panels of an animation, and numbers of pixels of all its frames, about.
FILM_PANELS = 4
PIXELS = 2**31

#: Configurations of a study: every one is an experiment in memory.
CONFIGURATIONS = 10**6

#: Chunks of a study: every one is a file of its store.
CHUNKS = 2 * 10**6

#: Characters of a text (JSON, TOML) that is read.
TEXT = 2**28

#: How deep the data of a text may be nested.
DEPTH = 100

#: Characters of the text of a formula.
FORMULA_TEXT = 20_000

#: Levels of the tree of a formula, and of its parentheses.
FORMULA_DEPTH = 100

#: Numbers, names and operations of a formula, written out.
FORMULA_SIZE = 2000


def written(limit: int) -> str:
    """Write a limit as people think of it.

    Examples
    --------
    >>> written(DRAWS), written(RUNS), written(THREADS)
    ('2**56', '2**63 - 1', '4096')
    """
    for whole, less in ((limit, ""), (limit + 1, " - 1")):
        if whole > 2**16 and whole & (whole - 1) == 0:
            return f"2**{whole.bit_length() - 1}{less}"
    return str(limit)
