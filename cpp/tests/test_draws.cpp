// The draws of the kernels, with uniforms that a stream gives once in 2^52 times.
#define COMMITTAL_ISA probe
#include "kernels/bandit/rewards.hpp"
#include "kernels/behaviours.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

constexpr int W = 8;
constexpr double kLargest = 1.0 - 0x1p-52;  // the largest uniform

struct Drawn {
  std::int64_t action;
  double importance;
};

// What u draws from these weights, the same on all lanes; KT = 0: any number of arms.
template <int KT>
Drawn draw(const std::vector<double>& weights, double u, double implicit = 0.0) {
  const auto count = static_cast<std::int64_t>(weights.size());
  std::vector<double> rows(weights.size() * W);
  double total[W];
  double uniforms[W];
  std::int64_t action[W];
  double importance[W];
  for (std::size_t k = 0; k < weights.size(); ++k) {
    for (int l = 0; l < W; ++l) rows[k * W + static_cast<std::size_t>(l)] = weights[k];
  }
  for (double& each : uniforms) each = u;
  probe::sum_rows<KT, W>(count, rows.data(), total);
  probe::draw_actions<KT, W>(count, {rows.data(), total}, uniforms, implicit, action, importance);
  for (int l = 1; l < W; ++l) {
    CHECK(action[l] == action[0]);
    CHECK(importance[l] == importance[0]);
  }
  return {action[0], importance[0]};
}

// The same by both ways of drawing.
Drawn draw(const std::vector<double>& weights, double u, double implicit = 0.0) {
  const Drawn many = draw<0>(weights, u, implicit);
  if (weights.size() == 3) {
    const Drawn few = draw<3>(weights, u, implicit);
    CHECK(few.action == many.action);
    CHECK(few.importance == many.importance);
  }
  return many;
}

TEST(an_arm_of_weight_zero_is_never_drawn) {
  CHECK(draw({0.0, 1.0, 1.0}, 0.0).action == 1);
  CHECK(draw({0.0, 0.0, 1.0}, 0.0).action == 2);
  CHECK(draw({1.0, 0.0, 1.0}, 0.5).action == 2);
  CHECK(draw({1.0, 1.0, 0.0}, kLargest).action == 1);
  CHECK(draw({1.0, 0.0, 0.0}, kLargest).action == 0);
  CHECK(draw({0.0, 3.0, 0.0, 0.0, 0.0}, 0.0).action == 1);
  CHECK(draw({0.0, 3.0, 0.0, 0.0, 0.0}, kLargest).action == 1);
}

TEST(the_weight_of_an_arm_that_can_hardly_be_drawn_is_a_number) {
  for (const double tiny : {1e-280, 1e-300, 1e-307}) {
    const Drawn drawn = draw({tiny, 1.0, 0.0}, 0.0);
    CHECK(drawn.action == 0);
    CHECK(drawn.importance >= 1e279 && drawn.importance <= 1.01e290);
  }
  CHECK(draw({1e-300, 1.0, 0.0}, 0.0, 0.25).importance == 4.0);
  CHECK(draw({1.0, 2.0, 1.0}, 0.5, 0.5).importance == 1.0);
}

TEST(a_reward_of_probability_zero_is_never_paid) {
  // The first arm pays 1 or, hardly ever, 2; the second 3 never, 4 and 5.
  const std::int64_t offsets[] = {0, 2, 5};
  const double values[] = {1.0, 2.0, 3.0, 4.0, 5.0};
  const double cumulative[] = {0.5, 1.0, 0.0, 0.5, 1.0};
  BanditView plan{};
  plan.table_offsets = {offsets, 3};
  plan.table_values = {values, 5};
  plan.table_cumulative = {cumulative, 5};
  CHECK(probe::reward_of_table(plan, 0, 0.0) == 1.0);
  CHECK(probe::reward_of_table(plan, 0, 0.5) == 2.0);
  CHECK(probe::reward_of_table(plan, 0, kLargest) == 2.0);
  CHECK(probe::reward_of_table(plan, 1, 0.0) == 4.0);
  CHECK(probe::reward_of_table(plan, 1, 0.5) == 5.0);
}

}  // namespace
}  // namespace committal
