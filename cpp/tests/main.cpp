// Known answers and accuracy bounds of the C++ core, and its threads under the sanitizers.
//
// A test is a function registered by TEST(name); CHECK reports file, line and expression, and the
// program exits with the number of failures.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bandit/simulator.hpp"
#include "core/accumulator.hpp"
#include "core/engine.hpp"
#include "core/rng.hpp"
#include "kernels/table.hpp"
#include "mdp/simulator.hpp"

namespace {

struct Test {
  const char* name;
  void (*body)();
};
std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
int failures = 0;

#define TEST(name)                                                         \
  void name();                                                             \
  const bool registered_##name = (tests().push_back({#name, name}), true); \
  void name()
#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      std::printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                               \
    }                                                                           \
  } while (false)

using namespace committal;

// A small generator for test inputs, itself a stream of the library.
double random_number(std::uint64_t i) { return uniform(1, 2, Slot::kStart, i); }

TEST(philox_known_answers) {
  // The vectors published with Random123 for philox4x32, 10 rounds.
  using C = PhiloxCounter;
  using K = PhiloxKey;
  constexpr std::uint32_t f = 0xffffffff;
  CHECK((philox4x32(C{{0, 0, 0, 0}}, K{{0, 0}}) ==
         C{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  CHECK((philox4x32(C{{f, f, f, f}}, K{{f, f}}) ==
         C{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  CHECK((philox4x32(C{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                    K{{0xa4093822, 0x299f31d0}}) ==
         C{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST(lane_uniforms_are_the_scalar_stream) {
  const std::uint64_t key = 0x0123456789abcdef;
  const std::uint64_t far = (std::uint64_t{1} << 40) + 3;  // needs the high words of the counter
  for (const std::string& isa : available_isas()) {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{5}, far}) {
      for (const std::uint64_t run : {std::uint64_t{0}, std::uint64_t{77}, far}) {
        double u[40];
        kernel_table(isa).uniforms(key, run, 1, first, u, 40);
        for (std::uint64_t i = 0; i < 40; ++i) {
          CHECK(u[i] == uniform(key, run, Slot::kReward, first + i));
          CHECK(u[i] >= 0.0 && u[i] < 1.0);
        }
      }
    }
  }
}

// The largest error of `y` against the long double `truth`, in units of the last place of y.
double ulps(double y, long double truth) {
  const double nearest = static_cast<double>(truth);
  const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
  return static_cast<double>(std::fabs((static_cast<long double>(y) - truth) / unit));
}

TEST(exp_within_one_ulp) {
  constexpr std::size_t n = 20000;
  std::vector<double> x(n);
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = random_number(i);
    x[i] = i % 2 == 0 ? -708.0 + 1417.0 * u : 4.0 * u - 2.0;
  }
  for (const std::string& isa : available_isas()) {
    kernel_table(isa).exp(x.data(), y.data(), n);
    double worst = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      worst = std::fmax(worst, ulps(y[i], std::exp(static_cast<long double>(x[i]))));
    }
    CHECK(worst < 1.0);
  }
}

TEST(exp_at_the_ends) {
  const double x[] = {0.0, -708.0, -709.0, -1e300, 709.0, 800.0, 1e300};
  double y[7];
  for (const std::string& isa : available_isas()) {
    kernel_table(isa).exp(x, y, 7);
    CHECK(y[0] == 1.0);
    CHECK(y[1] > 0.0);
    CHECK(y[2] == 0.0);
    CHECK(y[3] == 0.0);
    CHECK(std::isfinite(y[4]) && y[4] > 8e307);
    CHECK(y[5] == y[4]);
    CHECK(y[6] == y[4]);
  }
}

TEST(log_within_one_ulp) {
  constexpr std::size_t n = 20000;
  std::vector<double> x(n);
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = random_number(i);
    x[i] = i % 2 == 0 ? std::exp(1400.0 * (u - 0.5)) : 0.5 + u;
  }
  for (const std::string& isa : available_isas()) {
    kernel_table(isa).log(x.data(), y.data(), n);
    double worst = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      worst = std::fmax(worst, ulps(y[i], std::log(static_cast<long double>(x[i]))));
    }
    CHECK(worst < 1.0);
  }
}

TEST(normal_quantile_inverts_the_normal_law) {
  constexpr std::size_t n = 4000;
  std::vector<double> u(n);
  std::vector<double> z(n);
  for (std::size_t i = 0; i < n; ++i) {
    u[i] = i % 2 == 0 ? random_number(i) + 0x1p-53 : std::exp(-36.0 * random_number(i));
  }
  for (const std::string& isa : available_isas()) {
    kernel_table(isa).normal_quantile(u.data(), z.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const double back = 0.5 * std::erfc(-z[i] / std::sqrt(2.0));
      // The condition of the inverse: an error of 1e-15 |z| in z moves u by phi(z) 1e-15 |z|.
      CHECK(std::fabs(back - u[i]) <= 1e-13 * u[i] * (1.0 + z[i] * z[i]));
    }
  }
}

TEST(accumulator_is_exact_and_order_free) {
  std::vector<double> numbers;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const double u = random_number(i) - 0.5;
    numbers.push_back(u * std::exp2(std::floor(240.0 * (random_number(i + 5000) - 0.5))));
  }
  std::int64_t forward[kAccumulatorLimbs] = {};
  std::int64_t backward[kAccumulatorLimbs] = {};
  for (const double x : numbers) accumulate(forward, x);
  for (auto it = numbers.rbegin(); it != numbers.rend(); ++it) {
    accumulate(backward, *it);
    carry(backward);
  }
  carry(forward);
  CHECK(std::memcmp(forward, backward, sizeof forward) == 0);
  for (const double x : numbers) accumulate(forward, -x);
  carry(forward);
  for (const std::int64_t limb : forward) CHECK(limb == 0);
}

TEST(accumulator_squares_keep_the_rounding_error) {
  std::int64_t limbs[kAccumulatorLimbs] = {};
  const double x = 1.0 + 0x1p-40;  // x^2 = 1 + 2^-39 + 2^-80 needs more than 53 bits
  accumulate_square(limbs, x);
  accumulate(limbs, -1.0);
  accumulate(limbs, -0x1p-39);
  accumulate(limbs, -0x1p-80);
  carry(limbs);
  for (const std::int64_t limb : limbs) CHECK(limb == 0);
}

TEST(accumulator_refuses_what_it_cannot_hold) {
  std::int64_t limbs[kAccumulatorLimbs] = {};
  bool thrown = false;
  try {
    accumulate(limbs, 1e200);
  } catch (const std::overflow_error&) {
    thrown = true;
  }
  CHECK(thrown);
}

BanditPlan small_plan(std::int64_t arms) {
  BanditPlan plan;
  plan.arms = arms;
  plan.steps = 60;
  plan.theta0.assign(static_cast<std::size_t>(arms), 0.0);
  plan.step_size = {0.1};
  plan.means.assign(static_cast<std::size_t>(arms), 0.0);
  plan.means[0] = 1.0;
  plan.spread.assign(static_cast<std::size_t>(arms), 0.0);
  plan.reward_variance.assign(static_cast<std::size_t>(arms), 0.0);
  plan.terms = {{BaselineKind::kMinVarianceGradient, 1.0, 0.0}};
  plan.times = {0, 7, 60};
  plan.validate();
  return plan;
}

constexpr int kValue = static_cast<int>(Quantity::kValue);

std::vector<double> values_of(const BanditSimulator& plan, int threads, const std::string& isa,
                              int block) {
  Request request;
  request.key = 42;
  request.runs = 150;
  request.threads = threads;
  request.isa = isa;
  request.block = block;
  std::vector<double> values(static_cast<std::size_t>(request.runs * plan.time_count()));
  simulate(plan, request, {{kValue, values.data()}});
  return values;
}

TEST(results_do_not_depend_on_the_machine) {
  for (const std::int64_t arms : {2, 3, 5, 17, 70, 130, 300}) {
    const BanditSimulator plan(small_plan(arms));
    const std::vector<double> expected = values_of(plan, 1, "generic", 64);
    for (const std::string& isa : available_isas()) {
      for (const int threads : {1, 3}) {
        for (const int block : {16, 64}) CHECK(values_of(plan, threads, isa, block) == expected);
      }
    }
  }
}

TEST(reductions_agree_with_the_runs) {
  const BanditSimulator plan(small_plan(3));
  const auto times = static_cast<std::size_t>(plan.time_count());
  const std::vector<double> values = values_of(plan, 2, "auto", 0);
  std::vector<std::int64_t> limbs(times * 2 * kAccumulatorLimbs);
  std::vector<std::int64_t> counts(times * 12);
  std::vector<std::int64_t> below(times);
  Request request;
  request.key = 42;
  request.runs = 150;
  request.threads = 3;
  Reductions reductions;
  reductions.moments = {{kValue, limbs.data()}};
  reductions.histograms = {{kValue, counts.data(), 10, 0.0, 1.0}};
  reductions.failures = below.data();
  reductions.below = 0.5;
  reduce(plan, request, reductions);
  for (std::size_t t = 0; t < times; ++t) {
    std::int64_t expected[kAccumulatorLimbs] = {};
    std::int64_t failed = 0;
    for (std::size_t run = 0; run < 150; ++run) {
      accumulate(expected, values[run * times + t]);
      failed += values[run * times + t] < 0.5 ? 1 : 0;
    }
    carry(expected);
    CHECK(std::memcmp(expected, limbs.data() + t * 2 * kAccumulatorLimbs, sizeof expected) == 0);
    CHECK(failed == below[t]);
    std::int64_t total = 0;
    for (std::size_t cell = 0; cell < 12; ++cell) total += counts[t * 12 + cell];
    CHECK(total == 150);
  }
}

TEST(poll_can_stop_the_workers) {
  BanditPlan plan = small_plan(3);
  plan.steps = 100000000;
  plan.times = {100000000};
  const BanditSimulator simulator(plan);
  Request request;
  request.runs = 1000;
  request.threads = 2;
  request.poll = [](std::int64_t) { throw std::runtime_error("stop"); };
  std::vector<double> values(1000);
  bool thrown = false;
  try {
    simulate(simulator, request, {{kValue, values.data()}});
  } catch (const std::runtime_error& error) {
    thrown = std::string(error.what()) == "stop";
  }
  CHECK(thrown);
}

TEST(plans_are_refused_by_name) {
  const auto message = [](auto&& spoil) {
    BanditPlan plan = small_plan(3);
    spoil(plan);
    try {
      plan.validate();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message([](BanditPlan& p) { p.means[1] = NAN; }).find("means[1]") == 0);
  CHECK(message([](BanditPlan& p) { p.theta0.pop_back(); }).find("theta0") == 0);
  CHECK(message([](BanditPlan& p) { p.steps = -1; }).find("steps") == 0);
  CHECK(message([](BanditPlan& p) { p.step_size = {1.0, 2.0}; }).find("step_size") == 0);
  CHECK(message([](BanditPlan& p) { p.policy = "direct"; }).find("update") == 0);
  CHECK(message([](BanditPlan& p) { p.times = {3, 2}; }).find("times") == 0);
  CHECK(message([](BanditPlan& p) { p.noise = "pink"; }).find("noise") == 0);
  CHECK(message([](BanditPlan&) {}).empty());
}

// -- MDPs ----------------------------------------------------------------------------------------

// A ring: an action moves by its number or, if it slips, back by one. The last state is terminal.
struct Ring {
  std::int64_t states;
  std::int64_t actions;
  std::vector<std::uint8_t> terminal;
  std::vector<std::int64_t> row_offsets{0};
  std::vector<std::int32_t> next;
  std::vector<double> probability;
  std::vector<double> reward;

  Ring(std::int64_t n, std::int64_t a, bool slippery)
      : states(n), actions(a), terminal(static_cast<std::size_t>(n), 0) {
    terminal.back() = 1;
    for (std::int64_t row = 0; row < n * a; ++row) {
      const std::int64_t s = row / a;
      const auto add = [&](std::int64_t to, double p) {
        next.push_back(static_cast<std::int32_t>(to));
        probability.push_back(p);
        reward.push_back(random_number(static_cast<std::uint64_t>(next.size())) - 0.3);
      };
      add((s + row % a) % n, slippery ? 0.75 : 1.0);
      if (slippery) add((s + n - 1) % n, 0.25);
      row_offsets.push_back(static_cast<std::int64_t>(next.size()));
    }
  }
  MdpModel model(std::int64_t near_bytes = kNearBytes) const {
    return MdpModel(states, actions, terminal, row_offsets, next, probability, reward, 0.95,
                    near_bytes);
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
          const double later = next[at] == states - 1 ? 0.0 : values[next[at]];
          right += policy[row] * probability[at] * (reward[at] + 0.95 * later);
        }
      }
      worst = std::max(worst, std::abs(values[s] - right));
    }
    return worst;
  }
};

std::vector<double> random_policies(const Ring& ring, std::int64_t count) {
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

TEST(policies_are_evaluated_exactly_on_every_machine) {
  struct Case {
    std::int64_t states, actions;
    bool slippery;
    int lanes;
  };
  for (const Case& c : {Case{2, 1, false, 16}, Case{7, 2, true, 16}, Case{23, 3, false, 16},
                        Case{30, 4, true, 16}, Case{41, 9, true, 16}, Case{2600, 5, true, 8}}) {
    const Ring ring(c.states, c.actions, c.slippery);
    const MdpModel usual = ring.model();
    const MdpModel large = ring.model(0);
    CHECK(usual.lanes() == c.lanes);
    CHECK(large.lanes() == 8);
    const std::int64_t count = 37;  // no whole number of blocks
    const std::vector<double> policies = random_policies(ring, count);
    std::vector<double> expected;
    for (const std::string& isa : available_isas()) {
      for (const MdpModel& model : {std::cref(usual), std::cref(large)}) {
        std::vector<double> values(static_cast<std::size_t>(count * c.states), -1.0);
        Evaluation evaluation;
        evaluation.count = count;
        evaluation.given = policies.data();
        evaluation.threads = isa == "generic" ? 1 : 3;
        evaluation.isa = isa;
        evaluation.out = values.data();
        evaluate_policies(model, evaluation);
        if (expected.empty()) expected = values;
        CHECK(values == expected);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const double* policy = policies.data() + i * c.states * c.actions;
      CHECK(ring.residual(policy, expected.data() + i * c.states) < 1e-12);
    }
  }
}

TEST(policies_that_are_no_laws_are_refused_by_name) {
  const Ring ring(7, 3, true);
  const MdpModel model = ring.model();
  for (const double wrong : {-0.1, 2.0, std::nan("")}) {
    std::vector<double> policies = random_policies(ring, 40);
    policies[(33 * 7 + 4) * 3 + 1] = wrong;
    policies[(33 * 7 + 6) * 3] = wrong;  // of the terminal state: nobody looks
    std::vector<double> values(40 * 7);
    Evaluation evaluation;
    evaluation.count = 40;
    evaluation.given = policies.data();
    evaluation.out = values.data();
    evaluation.threads = 2;
    std::string message;
    try {
      evaluate_policies(model, evaluation);
    } catch (const std::invalid_argument& error) {
      message = error.what();
    }
    CHECK(message.find("policies[33, state 4]") == 0);
  }
}

TEST(mdp_runs_do_not_depend_on_the_machine) {
  for (const char* estimator : {"exact_q", "reinforce", "expected"}) {
    for (const bool slippery : {false, true}) {
      for (const std::int64_t actions : {3, 4}) {
        const Ring ring(9, actions, slippery);
        MdpPlan plan;
        plan.steps = 20;
        plan.limit = 15;
        plan.estimator = estimator;
        plan.theta0.assign(static_cast<std::size_t>(9 * actions), 0.0);
        plan.step_size = {0.3};
        plan.start_states = {0};
        plan.start_cumulative = {1.0};
        plan.times = {0, 20};
        const MdpSimulator simulator(std::make_shared<const MdpModel>(ring.model()), plan);
        const std::vector<MdpQuantity> quantities = {MdpQuantity::kReturn, MdpQuantity::kGoal,
                                                     MdpQuantity::kStateEntropy,
                                                     MdpQuantity::kPolicy};
        std::vector<std::vector<double>> expected;
        for (const std::string& isa : available_isas()) {
          for (const int block : {8, 16}) {
            Request request;
            request.key = 5;
            request.runs = 37;
            request.threads = 3;
            request.isa = isa;
            request.block = block;
            std::vector<std::vector<double>> found;
            std::vector<Output> outputs;
            for (const MdpQuantity quantity : quantities) {
              const std::int64_t width = simulator.width(static_cast<int>(quantity));
              found.emplace_back(static_cast<std::size_t>(37 * 2 * width));
              outputs.push_back({static_cast<int>(quantity), found.back().data()});
            }
            simulate(simulator, request, outputs);
            if (expected.empty()) expected = found;
            CHECK(found == expected);
          }
        }
      }
    }
  }
}

}  // namespace

int main() {
  for (const Test& test : tests()) {
    const int before = failures;
    test.body();
    std::printf("%s %s\n", failures == before ? "ok  " : "FAIL", test.name);
  }
  std::printf("%zu tests, %d failed checks\n", tests().size(), failures);
  return failures == 0 ? 0 : 1;
}
