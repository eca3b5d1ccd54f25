r"""The oracle: every experiment, one run at a time, as plainly as the paper writes it.

Nothing here is fast. The compiled engine is checked against these files step by step, so each
function is one formula, read straight from the :class:`~committal.Experiment` and not from the
plan that the engine is given. Read on below, then the files in the order in which a run needs them:

==================  ================================================================
``streams``         random numbers from (key, run, slot, number); draws from them
``rewards``         the laws of rewards: quantiles, atoms, variances
``formulas``        what formulas are given, and their values
``policies``        :math:`\theta_0`; from :math:`\theta` to :math:`\pi`, entropy, distance
``baselines``       b from :math:`\pi` and r; the memory of running means
``behaviours``      :math:`\mu` from :math:`\pi`
``updates``         directions g, projection, the next :math:`\theta`
``groups``          advantages of a group, terms of regularisers
``variance``        the covariance of g
``bandit``          one run of a bandit; the exact law of one update
``mdp_evaluation``  V, Q, d and the probabilities of goals
``mdp_episodes``    episodes, drawn or all of them
``mdp_updates``     directions of episodes, the next :math:`\theta`
``mdp_critics``     what a baseline learns from an episode
``mdp``             one run of an MDP
``mdp_quantities``  recorded formulas, of every state
``measures``        what is recorded, by name
``replay``          which formula left the numbers, and where
``runs``            :func:`simulate`: one run, everything recorded
==================  ================================================================

(``schedules``, ``problems`` and ``arrays`` are a few lines each that several of them need.)

One run
-------
:math:`\theta_0` is given. For t = 0, 1, 2, ... with :math:`\pi = \pi_{\theta_t}`,
:math:`r_i` the mean reward of arm i and :math:`V = \sum_i \pi_i r_i`:

1. the baseline :math:`b_t` is computed from :math:`\pi`, r, or the rewards seen so far;
2. the behaviour :math:`\mu_t` is computed from :math:`\pi`;
3. for each of N samples: :math:`a \sim \mu_t`, a reward R is drawn from arm a, and
   :math:`A = R - b_t`, :math:`w = 1 / (\mu_t(a) + \gamma^{IX}_t)`;
4. the direction g is the mean over the samples of

   ==================  =====================================================
   vanilla, softmax    :math:`A\,\pi(a) w\,(e_a - \pi)`
   vanilla, sigmoid    :math:`A\,\pi(1) w\,\pi(2)`, or :math:`-A\,\pi(2) w\,\pi(1)`
   natural, softmax    :math:`A\,w\,e_a`
   natural, sigmoid    :math:`A\,w`, or :math:`-A\,w`
   direct              :math:`A\,w\,e_a`
   ==================  =====================================================

   (sigmoid: first arm, or second arm) plus the entropy term :math:`\tau_t \nabla H` in the same
   geometry, :math:`-\pi \odot (\log\pi + H)` for vanilla and :math:`-\log\pi` for natural;
5. :math:`\theta_{t+1} = \theta_t + \alpha_t g`, projected onto the simplex when
   :math:`\theta` is the probability vector itself.

With the expected estimator nothing is drawn, and g is the expectation of step 4 for b = 0:
:math:`\pi \odot (r - V)`, r, or r.

One run of an MDP
-----------------
:math:`\theta_0[s,a]` is given. For t = 0, 1, 2, ... with
:math:`\pi(\cdot|s) = \mathrm{softmax}(\theta_t[s])`:

1. an episode :math:`s_0, a_0, r_0, s_1, \dots` is drawn from :math:`\mu_t(\cdot|s)`, until a
   terminal state or the limit; :math:`G = \sum_i \gamma^i r_i` is its return;
2. everything below is computed at the old :math:`\theta` and summed over the episode; with
   :math:`\rho_i = \pi(a_i|s_i)/\mu(a_i|s_i)` and :math:`\rho_{0:i} = \rho_0 \cdots \rho_i`, step i
   adds :math:`m_i` times a direction in the row of :math:`s_i`:

   ==========  ===================================  ==========================================
   estimator   :math:`m_i`                          direction
   ==========  ===================================  ==========================================
   exact Q     :math:`\rho_{0:i}(Q - b(s_i))`       vanilla :math:`e_a - \pi(\cdot|s_i)`
   REINFORCE   :math:`\rho_{0:i}(C_i - b + W_i)`    natural :math:`e_a / \pi(a|s_i)`
   ==========  ===================================  ==========================================

   where :math:`Q = Q^\pi(s_i, a_i)`, times :math:`\gamma^i` if it is discounted,
   :math:`C_i = \sum_{k<i}\gamma^k r_k` is what was earned before and
   :math:`W_i = \sum_{k\ge i}\gamma^k r_k\, \rho_{i+1}\cdots\rho_k` what came afterwards, weighted
   by the ratios in between. On-policy all :math:`\rho` are 1 and :math:`C_i + W_i = G`;
3. :math:`\theta_{t+1} = \theta_t + \alpha_t g`.

With a group N episodes are drawn, and g is the mean of theirs; :math:`m_i` is the advantage of the
episode's return among the N. What is recorded of an episode is that of the first; visits are all.
Where a policy of before has drawn them, of a snapshot or of the first of several epochs,
:math:`m_i` has the ratio :math:`\rho_i` of its own step only; all epochs have the advantages of the
first.

With :math:`\rho_i = \pi w` these are the bandit's directions of the table above, row by row. With
the expected estimator :math:`g[s,a] = d(s)\,\pi(a|s)\,(Q(s,a) - V(s))`, or
:math:`Q(s,a) - V(s)` in the states that the start can lead to (natural).

V, Q and d are those of the infinite horizon; the limit cuts sampled episodes only.

Baselines
---------
A weighted mean of the mean rewards, :math:`b = \sum_i w_i r_i / \sum_i w_i`, with

* value: :math:`w_i = \pi_i`;
* minimum variance, gradient metric: :math:`w_i = \pi_i \|e_i - \pi\|^2`;
* minimum variance, natural metric: :math:`w_i = 1 / \pi_i`, and for a fixed
  :math:`\lambda`, :math:`w_i = \pi_i [(K-1)\lambda^2 + (\lambda + 1/\pi_i)^2]`;

or a number: a constant, the largest mean reward, a number inside the gap of the two best arms, a
running mean of the rewards seen. Sums and multiples of these are baselines too.

The two natural ones minimise the *second moment* of the update, as the paper does: the mean of
that update moves along :math:`e = (1, ..., 1)` with b, which no softmax policy can see.

In an MDP they are those of :math:`\pi(\cdot|s)` and :math:`Q(s,\cdot)`, state by state; running
means are of returns. A baseline with a memory v has one for every state. Once :math:`\theta` is to
move, and before it does, every step i in turn changes :math:`v(s_i)`, from the reward of the step
and what the baseline says of the state after it: :math:`R = r_i + \gamma b(s_{i+1})`, where b of a
terminal state is 0. The critic is :math:`b = v,\ v \mathrel{+}= \beta(R - v)`.

What is measured
----------------
At time t everything describes :math:`\theta_t`: value V, entropy :math:`H = -\sum \pi\log\pi`,
regret :math:`\sum_{s<t} (\max r - V_s)`, distance :math:`\|\pi - e_{best}\|`, and the trace of the
covariance of g, by enumeration of the arms. Softmax and simplex do not see the direction e, so
the variance of natural and direct steps is that of g without its component along e. The action
and reward (the episode) at time t are those drawn *from* :math:`\theta_t`; the last ones are drawn
but never used. Schedules have one value per update; that last draw uses the last of them.
A recorded formula of an MDP is one of every state, of :math:`\pi(\cdot|s)` and the exact
:math:`Q(s,\cdot)`; its mean over states is weighted by 1, or by the discounted visits d(s).

Streams
-------
Uniform number d of slot s of a run is a pure function of (key, run, s, d): Philox4x32-7 at the
counter (d/2, s, run). Action and reward of sample j of update t both use d = tN + j, in slots
:data:`ACTION` and :data:`REWARD`. Step i of episode t uses d = t·limit + i of the slots
:data:`ACTION` and :data:`TRANSITION`; the first state uses d = t of slot :data:`START`. Number j
of the N episodes of update t is episode tN + j.

Examples
--------
>>> import committal as cm
>>> from committal import reference
>>> arms = cm.Experiment(
...     cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025),
...     cm.MinVariance() + 0.5, steps=10,
... )
>>> record = reference.simulate(arms, key=0, run=0)
>>> record["theta"].shape, record["value"].shape
((11, 3), (11,))

>>> maze = cm.Experiment(
...     cm.gridworld("S..A", goals={"A": 1.0}), cm.Softmax(), cm.Natural(0.1), cm.Value(),
...     estimator=cm.ExactQ(), steps=5,
... )
>>> record = reference.simulate(maze, key=0, run=0)
>>> record["return"].shape, record["theta"].shape
((6,), (6, 4, 4))
"""

from committal.reference.bandit import *
from committal.reference.baselines import *
from committal.reference.behaviours import *
from committal.reference.groups import *
from committal.reference.mdp import *
from committal.reference.mdp_critics import *
from committal.reference.mdp_episodes import *
from committal.reference.mdp_evaluation import *
from committal.reference.mdp_quantities import *
from committal.reference.mdp_updates import *
from committal.reference.measures import *
from committal.reference.policies import *
from committal.reference.problems import *
from committal.reference.rewards import *
from committal.reference.runs import *
from committal.reference.schedules import *
from committal.reference.streams import *
from committal.reference.updates import *
from committal.reference.variance import *
