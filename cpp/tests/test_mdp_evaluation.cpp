#include <functional>

#include "mdp/evaluation.hpp"
#include "tests/ring.hpp"

namespace committal {
namespace {

TEST(policies_are_evaluated_exactly_on_every_machine) {
  struct Case {
    std::int64_t states, actions;
    bool slippery;
    int lanes;
  };
  for (const Case& c : {Case{2, 1, false, 16}, Case{7, 2, true, 16}, Case{23, 3, false, 16},
                        Case{30, 4, true, 16}, Case{41, 9, true, 16}, Case{2600, 5, true, 8}}) {
    const Ring ring(c.states, c.actions, c.slippery);
    const MdpModel usual(ring);
    const MdpModel large(ring, 0);
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
  const MdpModel model(ring);
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
    CHECK(starts_with(
        message_of<std::invalid_argument>([&] { evaluate_policies(model, evaluation); }),
        "policies[33, state 4]"));
  }
}

TEST(tables_are_refused_by_name) {
  const auto complaint = [](auto&& spoil) {
    Ring ring(7, 3, true);
    spoil(ring);
    return message_of<std::invalid_argument>([&] { MdpModel{ring}; });
  };
  CHECK(complaint([](Ring&) {}).empty());
  CHECK(starts_with(complaint([](Ring& r) { r.states = 0; }), "states = 0"));
  CHECK(starts_with(complaint([](Ring& r) { r.actions = kMostPairs; }), "states * actions"));
  CHECK(starts_with(complaint([](Ring& r) { r.gamma = 1.0; }), "gamma = 1"));
  CHECK(starts_with(complaint([](Ring& r) { r.next_state[5] = 7; }), "next_state[5] = 7"));
  CHECK(starts_with(complaint([](Ring& r) { r.reward[3] = NAN; }), "reward[3] = nan"));
  CHECK(starts_with(complaint([](Ring& r) { r.probability[2] = 0.5; }),
                    "probability[state 0, action 1]"));
  CHECK(starts_with(complaint([](Ring& r) { r.row_offsets[4] = -1; }), "row_offsets"));
  CHECK(starts_with(complaint([](Ring& r) { r.terminal.assign(7, 1); }), "terminal"));
}

}  // namespace
}  // namespace committal
