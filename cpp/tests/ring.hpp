// A small MDP for tests.
#pragma once

#include <algorithm>
#include <cmath>

#include "mdp/model.hpp"
#include "tests/harness.hpp"

namespace committal {

// A ring: an action moves by its number or, if it slips, back by one. The last state is terminal.
struct Ring : MdpTables {
  Ring(std::int64_t n, std::int64_t a, bool slippery) {
    states = n;
    actions = a;
    gamma = 0.95;
    terminal.assign(static_cast<std::size_t>(n), 0);
    terminal.back() = 1;
    row_offsets = {0};
    for (std::int64_t row = 0; row < n * a; ++row) {
      const std::int64_t s = row / a;
      const auto add = [&](std::int64_t to, double p) {
        next_state.push_back(static_cast<std::int32_t>(to));
        probability.push_back(p);
        reward.push_back(random_number(static_cast<std::uint64_t>(next_state.size())) - 0.3);
      };
      add((s + row % a) % n, slippery ? 0.75 : 1.0);
      if (slippery) add((s + n - 1) % n, 0.25);
      row_offsets.push_back(static_cast<std::int64_t>(next_state.size()));
    }
  }
  // The largest |V - (R_pi + gamma P_pi V)|, with V = 0 in the terminal state.
  double residual(const double* policy, const double* values) const {
    double worst = std::abs(values[states - 1]);
    for (std::int64_t s = 0; s + 1 < states; ++s) {
      double right = 0.0;
      for (std::int64_t row = s * actions; row < (s + 1) * actions; ++row) {
        for (std::int64_t e = row_offsets[static_cast<std::size_t>(row)];
             e < row_offsets[static_cast<std::size_t>(row) + 1]; ++e) {
          const auto at = static_cast<std::size_t>(e);
          const double later = next_state[at] == states - 1 ? 0.0 : values[next_state[at]];
          right += policy[row] * probability[at] * (reward[at] + gamma * later);
        }
      }
      worst = std::max(worst, std::abs(values[s] - right));
    }
    return worst;
  }
};

inline std::vector<double> random_policies(const Ring& ring, std::int64_t count) {
  std::vector<double> policies;
  for (std::int64_t law = 0; law < count * ring.states; ++law) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < ring.actions; ++k) {
      policies.push_back(random_number(policies.size()));
      sum += policies.back();
    }
    for (auto p = policies.end() - ring.actions; p != policies.end(); ++p) *p /= sum;
  }
  return policies;
}

}  // namespace committal
