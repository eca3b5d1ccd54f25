// A baseline that learns in every state of an MDP, compiled once per instruction set.
//
// Its states are one set for every state and lane. After an episode they change move by move, with
// R = r + gamma b(s') from what they are by then. So moves come one after the other, but those of
// different lanes are looked at together.
#include "kernels/mdp/window.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

// f(row of the program, number that was learned) for all states of it, everywhere in the window.
template <int W, typename F>
void for_each_learned(const Window<W>& window, F&& f) {
  const MdpPrograms<W>& p = window.p;
  for (std::int64_t i = 0; i < p.critic.view().states.count; ++i) {
    const std::int64_t rows = p.critic.state_rows(i);
    double* state = p.critic.state(i).row;
    for (int j = 0; j < window.count; ++j) {
      double* learned = p.learned[i] + window.own[j] / window.A * rows;
      for (std::int64_t k = 0; k < rows; ++k) f(state[k * kSeen + j], learned[k], window.lane[j]);
    }
  }
}

// The critic of what is in the window.
template <int W>
void look(Window<W>& window) {
  window.gather_states(window.p.critic.view().used, nullptr);
  for_each_learned(window, [](double& state, const double& learned, int) { state = learned; });
  window.p.critic.run();
}

}  // namespace

template <int W>
void lay_out_critic(MdpPrograms<W>& p, const MdpView& plan, Arena& arena) {
  const ProgramView* view = plan.programs.critic;
  const std::int64_t A = plan.model.actions;
  p.critic.lay_out(view, {A, 1}, arena);
  if (view == nullptr) return;
  p.learned = arena.take<double*>(view->states.count);
  for (std::int64_t i = 0; i < view->states.count; ++i) {
    const std::int64_t rows = p.critic.state_rows(i) * own_states(plan.model.acting);
    double* learned = arena.take<double>(rows, W);
    if (p.learned != nullptr) p.learned[i] = learned;
  }
}

template <int W>
void start_critic(const MdpPrograms<W>& p, const MdpView& plan) {
  for (std::int64_t i = 0; i < p.critic.view().states.count; ++i) {
    const std::int64_t rows = p.critic.state_rows(i) * own_states(plan.model.acting);
    for (std::int64_t k = 0; k < rows; ++k) {
      fill<W>(p.learned[i] + k * W, p.critic.view().states[i].initial);
    }
  }
}

template <int W>
void add_critic(MdpRows<W>& s, const MdpView& plan, const Place* places, std::int64_t count,
                Patience& patience) {
  Window<W> window(s, plan);
  window.add_to_baseline(window.p.critic, places, count, patience, [&] { look(window); });
}

template <int W>
void learn(MdpRows<W>& s, const MdpView& plan, int lanes, Patience& patience) {
  Window<W> window(s, plan);
  MdpPrograms<W>& p = window.p;
  const MdpModelView& m = plan.model;
  const std::int64_t moves = path_moves(plan.limit);
  const std::int64_t own_pairs = window.states * window.A;
  std::int64_t longest = 0;
  for (int l = 0; l < lanes; ++l) longest = s.made[l] > longest ? s.made[l] : longest;
  for (std::int64_t move = 0; move < longest; ++move) {
    const auto each = [&](auto&& f) {
      window.count = 0;
      for (int l = 0; l < lanes; ++l) {
        if (move < s.made[l]) f(l, s.path_outcome[l * moves + move]);
      }
    };
    const auto see = [&](int l, std::int64_t pair) {
      window.lane[window.count] = l;
      window.own[window.count++] = l * own_pairs + pair;
    };
    double worth[W];
    fill<W>(worth, 0.0);
    each([&](int l, std::int64_t outcome) {
      if (m.next[outcome] < m.acting) see(l, m.next[outcome] * window.A);
    });
    look(window);
    for (int j = 0; j < window.count; ++j) worth[window.lane[j]] = p.critic.output(1).row[j];
    each([&](int l, std::int64_t outcome) {
      const std::int64_t pair = s.path[l * moves + move];
      const std::int64_t action = pair % window.A;
      p.reward[window.count] = m.reward[outcome] + m.gamma * worth[l];
      p.action[window.count] = static_cast<double>(action);
      see(l, pair - action);
    });
    look(window);
    p.critic.advance();
    for_each_learned(window, [&](const double& state, double& learned, int l) {
      learned = state;
      p.lost[l] += state - state;
    });
    patience.spend((p.critic.view().code.count + 4) * window.A);
  }
}

#define COMMITTAL_MDP_CRITIC(W)                                                                    \
  template void lay_out_critic<W>(MdpPrograms<W>&, const MdpView&, Arena&);                        \
  template void start_critic<W>(const MdpPrograms<W>&, const MdpView&);                            \
  template void add_critic<W>(MdpRows<W>&, const MdpView&, const Place*, std::int64_t, Patience&); \
  template void learn<W>(MdpRows<W>&, const MdpView&, int, Patience&);
COMMITTAL_MDP_CRITIC(kMdpWide)
COMMITTAL_MDP_CRITIC(kMdpNarrow)
#undef COMMITTAL_MDP_CRITIC

}  // namespace committal::COMMITTAL_ISA
