// The life of a block of MDP runs: one episode per update, all lanes walking in step.
//
// A lane whose episode has ended is parked on a dummy state, whose rows exist and mean nothing.
#pragma once

#include "kernels/bandit/updates.hpp"
#include "kernels/mdp/solve.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr std::int64_t kMaxSweeps = 1000000;

template <int KT, int W>
class MdpBlock {
 public:
  MdpBlock(const MdpView& plan, const BlockTask& task)
      : plan_(plan),
        task_(task),
        m_(plan.model),
        n_(plan.model.acting),
        actions_(plan.model.actions) {
    lay_out();
    COMMITTAL_LANES(l, W) run_[l] = task.first_run + static_cast<std::uint64_t>(l);
    for (std::int64_t row = 0; row < n_ * A(); ++row) fill<W>(theta_ + row * W, plan.theta0[row]);
    for (std::int64_t row = n_ * A(); row < (n_ + 1) * A(); ++row) {
      fill<W>(theta_ + row * W, 0.0);
      fill<W>(advantage_ + row * W, 0.0);
    }
    for (std::int64_t s = 0; s <= n_; ++s) {
      fill<W>(visits_ + s * W, 0.0);
      touched_[s] = 0;
      refresh_state(s);
    }
    for (std::int64_t i = 0; i < n_ + m_.goals; ++i) fill<W>(values_ + i * W, 0.0);
    fill<W>(running_mean_, plan.running_mean_initial);
    wants_episodes_ = wants(MdpQuantity::kReturn) || wants(MdpQuantity::kLength) ||
                      wants(MdpQuantity::kGoal) || wants(MdpQuantity::kActionEntropy) ||
                      wants(MdpQuantity::kStateEntropy) || wants(MdpQuantity::kVisits);
    counts_visits_ = wants(MdpQuantity::kStateEntropy) || wants(MdpQuantity::kVisits);
    draws_ = plan.estimator != MdpEstimator::kExpected || wants_episodes_;
  }

  void run() {
    std::int64_t next_record = 0;
    for (std::int64_t t = 0;; ++t) {
      if (next_record == plan_.time_count) return;
      const bool recorded = plan_.times[next_record] == t;
      const bool values_needed = plan_.estimator != MdpEstimator::kReinforce && t < plan_.steps;
      if (values_needed) evaluate_policy();
      if (draws_ && (t < plan_.steps || wants_episodes_)) {
        draw_episode(t, recorded && wants(MdpQuantity::kActionEntropy));
      }
      if (recorded) record(next_record++, values_needed);
      if (t == plan_.steps) return;
      apply(t);
      if (!task_.proceed(task_.proceed_context, 1)) return;
    }
  }

 private:
  // Mirrored by MdpSimulator::workspace_bytes().
  void lay_out() {
    double* next = static_cast<double*>(task_.workspace);
    const auto take = [&next](std::int64_t rows) {
      double* begin = next;
      next += rows * W;
      return begin;
    };
    theta_ = take((n_ + 1) * A());
    policy_ = take((n_ + 1) * A());
    advantage_ = take((n_ + 1) * A());
    visits_ = take(n_ + 1);
    baseline_ = take(n_ + 1);
    values_ = take(n_ + m_.goals);
    slots_ = take(m_.elimination.slots);
    path_state_ = reinterpret_cast<std::int64_t*>(take(plan_.limit));
    path_action_ = reinterpret_cast<std::int64_t*>(take(plan_.limit));
    path_weight_ = take(plan_.limit);
    path_ratio_ = take(plan_.limit);
    path_reward_ = take(plan_.limit);
    touched_ = reinterpret_cast<std::uint8_t*>(take(n_ / (8 * W) + 1));
    record_ = take(plan_.states * A() + m_.goals + n_ + 1);
    here_ = take(A());
    mixture_ = take(A());
    scratch_rows_ = take(A());
    action_uniforms_ = take(kDraws);
    transition_uniforms_ = take(kDraws);
    here_total_ = take(1);
    mixture_total_ = take(1);
    importance_ = take(1);
    spare_ = take(1);
    spare2_ = take(1);
    running_mean_ = take(1);
    return_ = take(1);
    length_ = take(1);
    goal_ = take(1);
    entropy_sum_ = take(1);
    alive_ = take(1);
    prefix_ = take(1);
    action_ = reinterpret_cast<std::int64_t*>(take(1));
    state_ = reinterpret_cast<std::int64_t*>(take(1));
    reached_ = reinterpret_cast<std::int64_t*>(take(1));
    run_ = reinterpret_cast<std::uint64_t*>(take(1));
  }

  std::int64_t A() const { return KT > 0 ? KT : actions_; }
  bool wants(MdpQuantity q) const { return task_.sink.wants(q); }
  bool on_policy() const { return plan_.behaviour == Behaviour::kOnPolicy; }

  // policy[s] = softmax(theta[s]) on every lane.
  void refresh_state(std::int64_t s) {
    const double* theta = theta_ + s * A() * W;
    double* policy = policy_ + s * A() * W;
    double highest[W];
    double total[W];
    COMMITTAL_LANES(l, W) highest[l] = theta[l];
    for (std::int64_t k = 1; k < A(); ++k) {
      COMMITTAL_LANES(l, W) highest[l] = larger(highest[l], theta[k * W + l]);
    }
    fill<W>(total, 0.0);
    for (std::int64_t k = 0; k < A(); ++k) {
      COMMITTAL_LANES(l, W) {
        policy[k * W + l] = lane_exp(theta[k * W + l] - highest[l]);
        total[l] += policy[k * W + l];
      }
    }
    for (std::int64_t k = 0; k < A(); ++k) {
      COMMITTAL_LANES(l, W) policy[k * W + l] /= total[l];
    }
  }

  // The same for the state in which each lane was at move i. Visiting a state again changes
  // nothing, so it does not matter how often it is refreshed.
  void refresh_visited(std::int64_t i) {
    const std::int64_t* state = path_state_ + i * W;
    double highest[W];
    double total[W];
    COMMITTAL_LANES(l, W) highest[l] = theta_[state[l] * A() * W + l];
    for (std::int64_t k = 1; k < A(); ++k) {
      COMMITTAL_LANES(l, W) {
        highest[l] = larger(highest[l], theta_[(state[l] * A() + k) * W + l]);
      }
    }
    fill<W>(total, 0.0);
    for (std::int64_t k = 0; k < A(); ++k) {
      double* weight = scratch_rows_ + k * W;
      COMMITTAL_LANES(l, W) {
        weight[l] = lane_exp(theta_[(state[l] * A() + k) * W + l] - highest[l]);
        total[l] += weight[l];
      }
    }
    for (std::int64_t k = 0; k < A(); ++k) {
      const double* weight = scratch_rows_ + k * W;
      COMMITTAL_LANES(l, W) policy_[(state[l] * A() + k) * W + l] = weight[l] / total[l];
    }
  }

  // Either way every policy that may have changed is computed anew, from its theta alone. One state
  // of all lanes is cheaper than a state of each, if lanes were in the same ones.
  void refresh_touched() {
    std::int64_t count = 0;
    for (std::int64_t s = 0; s < n_; ++s) count += touched_[s];
    const bool together = count <= 2 * moves_;
    for (std::int64_t i = 0; i < moves_ && !together; ++i) refresh_visited(i);
    for (std::int64_t s = 0; s <= n_; ++s) {
      if (together && touched_[s] != 0) refresh_state(s);
      touched_[s] = 0;
    }
  }

  // values, and advantage = Q - b (the expected estimator: Q - V).
  void evaluate_policy() {
    evaluate_values();
    q_values<W>(m_, values_, advantage_);
    if (plan_.estimator == MdpEstimator::kExpected) {
      for (std::int64_t s = 0; s < n_; ++s) subtract(s, values_ + s * W);
      return;
    }
    fill<W>(spare2_, 1.0);
    for (std::int64_t s = 0; s < n_; ++s) {
      // policy_ is normalised: its total is 1 up to rounding, and baselines only need ratios.
      const ArmRows<W> actions{A(), policy_ + s * A() * W, spare2_};
      const LaneRewards<W> q{advantage_ + s * A() * W};
      double* b = baseline_ + s * W;
      fill<W>(b, plan_.baseline_offset);
      for (std::int64_t i = 0; i < plan_.term_count; ++i) {
        const BaselineTerm& term = plan_.terms[i];
        evaluate_kind<KT>(term.kind, actions, q, term.parameter, spare_);
        COMMITTAL_LANES(l, W) b[l] += term.coefficient * spare_[l];
      }
      subtract(s, b);
    }
  }

  void evaluate_values() {
    if (plan_.solver == Solver::kDirect) {
      solve_values<W>(m_, policy_, slots_, values_);
    } else {
      sweep_values<W>(m_, policy_, plan_.tolerance, kMaxSweeps, values_, spare_);
    }
  }

  void subtract(std::int64_t s, const double* b) {
    for (std::int64_t k = 0; k < A(); ++k) {
      double* row = advantage_ + (s * A() + k) * W;
      COMMITTAL_LANES(l, W) row[l] -= b[l];
    }
  }

  void reach_draw(std::uint64_t draw) {
    const std::uint64_t stretch = draw / kDraws;
    if (stretch == filled_) return;
    filled_ = stretch;
    fill_uniforms<W>(task_.key, run_, static_cast<std::uint32_t>(Slot::kAction), stretch * kDraws,
                     action_uniforms_);
    if (!m_.deterministic) {
      fill_uniforms<W>(task_.key, run_, static_cast<std::uint32_t>(Slot::kTransition),
                       stretch * kDraws, transition_uniforms_);
    }
  }

  void draw_starts(std::int64_t t) {
    for (int l = 0; l < W; ++l) {
      std::int64_t at = 0;
      if (plan_.start_count > 1) {
        const double u = uniform(task_.key, run_[l], Slot::kStart, static_cast<std::uint64_t>(t)) *
                         plan_.start_cumulative[plan_.start_count - 1];
        while (at < plan_.start_count - 1 && !(u < plan_.start_cumulative[at])) ++at;
      }
      state_[l] = plan_.start_states[at];
    }
  }

  // One episode per lane from theta_t: path, return, length, goal; visits are counted.
  void draw_episode(std::int64_t t, bool with_entropy) {
    draw_starts(t);
    fill<W>(return_, 0.0);
    fill<W>(length_, 0.0);
    fill<W>(entropy_sum_, 0.0);
    fill<W>(alive_, 1.0);
    fill<W>(prefix_, 1.0);
    double discount = 1.0;
    const std::uint64_t first =
        static_cast<std::uint64_t>(t) * static_cast<std::uint64_t>(plan_.limit);
    moves_ = 0;
    while (moves_ < plan_.limit) {
      move(first + static_cast<std::uint64_t>(moves_), t, discount, with_entropy);
      ++moves_;
      discount *= m_.gamma;
      std::int64_t walking = 0;
      COMMITTAL_LANES(l, W) walking |= static_cast<std::int64_t>(alive_[l] > 0.0);
      if (walking == 0) break;
    }
    for (int l = 0; l < W; ++l) {
      goal_[l] = reached_[l] >= n_ ? static_cast<double>(reached_[l] - n_) : -1.0;
    }
  }

  void move(std::uint64_t draw, std::int64_t t, double discount, bool with_entropy) {
    reach_draw(draw);
    std::int64_t* path_state = path_state_ + moves_ * W;
    std::int64_t* path_action = path_action_ + moves_ * W;
    COMMITTAL_LANES(l, W) path_state[l] = state_[l];
    for (std::int64_t k = 0; k < A(); ++k) {
      COMMITTAL_LANES(l, W) here_[k * W + l] = policy_[(state_[l] * A() + k) * W + l];
    }
    sum_rows<KT, W>(A(), here_, here_total_);
    const ArmRows<W> here{A(), here_, here_total_};
    const BehaviourRows rows =
        behaviour_rows<KT, W>(plan_.behaviour, plan_.exploration.at(t),
                              plan_.behaviour_probabilities, here, mixture_, mixture_total_);
    const std::uint64_t at = draw % kDraws * W;
    draw_actions<KT, W>(A(), rows, action_uniforms_ + at, 0.0, action_, importance_);
    COMMITTAL_LANES(l, W) path_action[l] = action_[l];
    weigh_move(discount);
    if (with_entropy) add_action_entropy();
    COMMITTAL_LANES(l, W) length_[l] += alive_[l];
    if (counts_visits_) {
      COMMITTAL_LANES(l, W) visits_[state_[l] * W + l] += alive_[l];
    }
    for (int l = 0; l < W; ++l) touched_[path_state[l]] = 1;
    follow_transition(transition_uniforms_ + at, discount);
  }

  // What multiplies the score (vanilla) or the unit vector (natural) of this move, before the
  // advantage or the return.
  void weigh_move(double discount) {
    double* weight = path_weight_ + moves_ * W;
    double* ratio = path_ratio_ + moves_ * W;
    const bool natural = plan_.update == Update::kNatural;
    const double scale =
        plan_.discounted && plan_.estimator == MdpEstimator::kExactQ ? discount : 1.0;
    if (on_policy()) {
      COMMITTAL_LANES(l, W) weight[l] = alive_[l] * scale * (natural ? importance_[l] : 1.0);
      return;
    }
    COMMITTAL_LANES(l, W) {
      const double pi = policy_[(state_[l] * A() + action_[l]) * W + l];
      const double rho = pi * importance_[l];
      const double through = prefix_[l] * rho;  // the ratios up to and including this move
      ratio[l] = through;
      weight[l] = alive_[l] * scale * (natural ? prefix_[l] * importance_[l] : through);
      prefix_[l] = through;
    }
  }

  void add_action_entropy() {
    for (std::int64_t k = 0; k < A(); ++k) {
      COMMITTAL_LANES(l, W) {
        const double pi = here_[k * W + l];
        const double term = pi * lane_log(larger(pi, 1e-300));
        entropy_sum_[l] -= alive_[l] * (pi > 1e-300 ? term : 0.0);
      }
    }
  }

  void follow_transition(const double* v, double discount) {
    double* reward = path_reward_ + moves_ * W;
    std::int64_t next[W];
    if (m_.deterministic) {
      COMMITTAL_LANES(l, W) {
        const std::int64_t row = state_[l] * A() + action_[l];
        next[l] = m_.only_next[row];
        reward[l] = discount * m_.only_reward[row];
      }
    } else {
      for (int l = 0; l < W; ++l) {
        next[l] = n_;
        reward[l] = 0.0;
        if (!(alive_[l] > 0.0)) continue;
        const std::int64_t row = state_[l] * A() + action_[l];
        std::int64_t at = m_.row_offsets[row];
        const std::int64_t last = m_.row_offsets[row + 1] - 1;
        while (at < last && !(v[l] < m_.cumulative[at])) ++at;
        next[l] = m_.next[at];
        reward[l] = discount * m_.reward[at];
      }
    }
    COMMITTAL_LANES(l, W) {
      return_[l] += reward[l];
      reached_[l] = alive_[l] > 0.0 ? next[l] : reached_[l];
      alive_[l] = next[l] >= n_ ? 0.0 : alive_[l];
      state_[l] = next[l] >= n_ ? n_ : next[l];
    }
  }

  void apply(std::int64_t t) {
    const double alpha = plan_.step_size.at(t);
    if (plan_.estimator == MdpEstimator::kExpected) return apply_expected(alpha);
    if (plan_.estimator == MdpEstimator::kReinforce) weigh_by_returns(t);
    for (std::int64_t i = 0; i < moves_; ++i) apply_move(i, alpha);
    refresh_touched();
  }

  // theta[s_i] += alpha * coefficient * (e_a - pi, or e_a). The policy is still the old one.
  void apply_move(std::int64_t i, double alpha) {
    const std::int64_t* state = path_state_ + i * W;
    const std::int64_t* action = path_action_ + i * W;
    const double* weight = path_weight_ + i * W;
    const bool exact = plan_.estimator == MdpEstimator::kExactQ;
    COMMITTAL_LANES(l, W) {
      const double signal = exact ? advantage_[(state[l] * A() + action[l]) * W + l] : 1.0;
      spare_[l] = alpha * weight[l] * signal;
    }
    if (plan_.update == Update::kVanilla) {
      for (std::int64_t k = 0; k < A(); ++k) {
        COMMITTAL_LANES(l, W) {
          const std::int64_t at = (state[l] * A() + k) * W + l;
          theta_[at] -= spare_[l] * policy_[at];
        }
      }
    }
    COMMITTAL_LANES(l, W) theta_[(state[l] * A() + action[l]) * W + l] += spare_[l];
  }

  // REINFORCE: path_weight becomes the multiplier of each move's direction. On-policy that is
  // G - b; off-policy reward k carries the ratios up to max(i, k):
  //   rho_{0:i} (C_i - b) + sum_{k >= i} gamma^k r_k rho_{0:k},   C_i = sum_{k < i} gamma^k r_k.
  void weigh_by_returns(std::int64_t t) {
    double* b = spare_;
    fill<W>(b, plan_.baseline_offset);
    for (std::int64_t i = 0; i < plan_.term_count; ++i) {  // only a running mean is allowed here
      COMMITTAL_LANES(l, W) b[l] += plan_.terms[i].coefficient * running_mean_[l];
    }
    if (on_policy()) {
      for (std::int64_t i = 0; i < moves_; ++i) {
        COMMITTAL_LANES(l, W) path_weight_[i * W + l] *= return_[l] - b[l];
      }
    } else {
      double earned[W];   // C_i, walking backwards
      double pending[W];  // the sum over k >= i
      COMMITTAL_LANES(l, W) {
        earned[l] = return_[l];
        pending[l] = 0.0;
      }
      for (std::int64_t i = moves_ - 1; i >= 0; --i) {
        const double* reward = path_reward_ + i * W;
        const double* ratio = path_ratio_ + i * W;
        const std::int64_t* state = path_state_ + i * W;
        const std::int64_t* action = path_action_ + i * W;
        double* weight = path_weight_ + i * W;
        COMMITTAL_LANES(l, W) {
          earned[l] -= reward[l];
          pending[l] += reward[l] * ratio[l];
          const double signal = ratio[l] * (earned[l] - b[l]) + pending[l];
          const double alive = weight[l] != 0.0 ? 1.0 : 0.0;
          const double pi = policy_[(state[l] * A() + action[l]) * W + l];
          weight[l] =
              alive * (plan_.update == Update::kNatural ? signal / larger(pi, kFloor) : signal);
        }
      }
    }
    if (plan_.uses_running_mean) {
      follow_rewards<W>(running_mean_, return_, plan_.running_mean_rate,
                        static_cast<double>(t + 1));
    }
  }

  // vanilla: alpha d(s) pi (Q - V); natural: alpha (Q - V) wherever the start can lead.
  void apply_expected(double alpha) {
    const bool vanilla = plan_.update == Update::kVanilla;
    double* distribution = record_;  // free between records
    if (vanilla) solve_distribution<W>(m_, policy_, plan_.start, slots_, distribution);
    for (std::int64_t s = 0; s < n_; ++s) {
      if (plan_.reachable[s] == 0) continue;
      for (std::int64_t k = 0; k < A(); ++k) {
        const std::int64_t row = (s * A() + k) * W;
        COMMITTAL_LANES(l, W) {
          const double scale = vanilla ? distribution[s * W + l] * policy_[row + l] : 1.0;
          theta_[row + l] += alpha * scale * advantage_[row + l];
        }
      }
      refresh_state(s);
    }
  }

  void emit(MdpQuantity quantity, std::int64_t index, const double* rows, std::int64_t width) {
    task_.sink.emit(task_.sink.context, static_cast<int>(quantity), index, rows, width, W);
  }

  void record(std::int64_t index, bool evaluated) {
    if (wants(MdpQuantity::kReturn)) emit(MdpQuantity::kReturn, index, return_, 1);
    if (wants(MdpQuantity::kLength)) emit(MdpQuantity::kLength, index, length_, 1);
    if (wants(MdpQuantity::kGoal)) emit(MdpQuantity::kGoal, index, goal_, 1);
    if (wants(MdpQuantity::kActionEntropy)) {
      COMMITTAL_LANES(l, W) record_[l] = larger(entropy_sum_[l] / length_[l], 0.0);
      emit(MdpQuantity::kActionEntropy, index, record_, 1);
    }
    if (wants(MdpQuantity::kStateEntropy)) {
      record_state_entropy();
      emit(MdpQuantity::kStateEntropy, index, record_, 1);
    }
    if (wants(MdpQuantity::kValue)) {
      // Exact whatever the solver of the updates: a swept V would record its own error.
      double* values = values_;
      if (plan_.solver != Solver::kDirect) values = record_ + W;
      if (plan_.solver != Solver::kDirect || !evaluated) {
        solve_values<W>(m_, policy_, slots_, values);
      }
      fill<W>(record_, 0.0);
      for (std::int64_t s = 0; s < n_; ++s) {
        COMMITTAL_LANES(l, W) record_[l] += plan_.start[s] * values[s * W + l];
      }
      emit(MdpQuantity::kValue, index, record_, 1);
    }
    if (wants(MdpQuantity::kGoalProbability)) {
      // The slots of the elimination are the two scratch rows per state that this needs.
      goal_probability<W>(m_, policy_, plan_.start, plan_.limit, slots_, record_);
      emit(MdpQuantity::kGoalProbability, index, record_, m_.goals);
    }
    if (wants(MdpQuantity::kPolicy)) {
      fill_all(record_, plan_.states * A(), 1.0 / static_cast<double>(A()));
      scatter_states(policy_, A());
      emit(MdpQuantity::kPolicy, index, record_, plan_.states * A());
    }
    if (wants(MdpQuantity::kTheta)) {
      for (std::int64_t row = 0; row < plan_.states * A(); ++row) {
        fill<W>(record_ + row * W, plan_.terminal_theta[row]);
      }
      scatter_states(theta_, A());
      emit(MdpQuantity::kTheta, index, record_, plan_.states * A());
    }
    if (wants(MdpQuantity::kVisits)) {
      fill_all(record_, plan_.states, 0.0);
      scatter_states(visits_, 1);
      emit(MdpQuantity::kVisits, index, record_, plan_.states);
    }
  }

  void fill_all(double* rows, std::int64_t count, double value) {
    for (std::int64_t i = 0; i < count; ++i) fill<W>(rows + i * W, value);
  }

  // Copies rows of acting states to the places of their original numbers in record_.
  void scatter_states(const double* rows, std::int64_t width) {
    for (std::int64_t s = 0; s < n_; ++s) {
      for (std::int64_t k = 0; k < width; ++k) {
        const double* from = rows + (s * width + k) * W;
        double* to = record_ + (plan_.original[s] * width + k) * W;
        COMMITTAL_LANES(l, W) to[l] = from[l];
      }
    }
  }

  // H of the visit counts c: log N - sum c log c / N.
  void record_state_entropy() {
    double total[W];
    double sum[W];
    fill<W>(total, 0.0);
    fill<W>(sum, 0.0);
    for (std::int64_t s = 0; s < n_; ++s) {
      COMMITTAL_LANES(l, W) {
        const double c = visits_[s * W + l];
        total[l] += c;
        sum[l] += c * lane_log(larger(c, 1.0));
      }
    }
    COMMITTAL_LANES(l, W) {
      record_[l] = larger(lane_log(larger(total[l], 1.0)) - sum[l] / larger(total[l], 1.0), 0.0);
    }
  }

  const MdpView& plan_;
  const BlockTask& task_;
  const MdpModelView& m_;
  const std::int64_t n_;  // states that are acted in
  const std::int64_t actions_;
  double* theta_;              // [n + 1][A][W], the last state is the dummy
  double* policy_;             // [n + 1][A][W]
  double* advantage_;          // [n + 1][A][W]
  double* visits_;             // [n + 1][W]
  double* baseline_;           // [n + 1][W]
  double* values_;             // [n + goals][W]
  double* slots_;              // [slots][W] of the elimination
  std::int64_t* path_state_;   // [limit][W]
  std::int64_t* path_action_;  // [limit][W]
  double* path_weight_;        // [limit][W]
  double* path_ratio_;         // [limit][W] importance ratios up to and including a move
  double* path_reward_;        // [limit][W] discounted
  std::uint8_t* touched_;      // [n + 1] whether a lane has been there in this episode
  double* record_;
  double* here_;  // [A][W] the policy where each lane is
  double* mixture_;
  double* scratch_rows_;
  double* action_uniforms_;
  double* transition_uniforms_;
  double* here_total_;
  double* mixture_total_;
  double* importance_;
  double* spare_;
  double* spare2_;
  double* running_mean_;
  double* return_;
  double* length_;
  double* goal_;
  double* entropy_sum_;
  double* alive_;
  double* prefix_;
  std::int64_t* action_;
  std::int64_t* state_;
  std::int64_t* reached_;  // where the last move led: acting states, then terminal ones
  std::uint64_t* run_;
  std::uint64_t filled_ = ~std::uint64_t{0};
  std::int64_t moves_ = 0;
  bool wants_episodes_ = false;
  bool counts_visits_ = false;
  bool draws_ = true;
};

template <int W>
void run_mdp_block(const MdpView& plan, const BlockTask& task) {
  if (plan.model.actions == 4) {
    MdpBlock<4, W>(plan, task).run();
  } else {
    MdpBlock<0, W>(plan, task).run();
  }
}

}  // namespace committal::COMMITTAL_ISA
