#include "mdp/plan.hpp"

#include "mdp/model.hpp"

namespace committal {

MdpPlan::MdpPlan() : MdpFields<Owned>{} { visit(DefaultFields{}, *this); }

void MdpPlan::validate(const MdpModel& model) const {
  visit(CheckFields{steps}, *this);
  const auto starts = static_cast<std::int64_t>(start_states.size());
  if (each_start && starts > 0 && samples > kMostSamples / starts) {
    refuse("samples", std::to_string(samples),
           "at most " + std::to_string(kMostSamples / starts) + " from each start");
  }
  // One more episode is drawn at the last time, and not applied.
  require_draws(steps, episodes() == 1 ? "limit" : "limit * samples", limit * episodes(), true);
  if (!(tolerance > 0.0)) refuse("tolerance", show(tolerance), "a positive number");
  require_count("theta0", theta0.size(), model.states() * model.actions());
  require_behaviour_law(behaviour, behaviour_probabilities, model.actions());
  validate_terms();
  validate_programs();
  validate_copies();
  validate_start(model);
}

bool MdpPlan::lags() const {
  const Array<BehaviourRow> behaviours = rows_of(Behaviour{});
  return behaviours[resolve("behaviour", behaviour, behaviours)].remembers;
}

// Ratios to a copy of the policy are those of single actions, and programs see them.
void MdpPlan::validate_copies() const {
  const bool weighed = estimator == "reinforce" && (programs.weight || programs.update);
  if (lags() && !weighed) {
    refuse("behaviour", quoted(behaviour), "'reinforce' with a weight or an update of programs");
  }
  if (lags() && !(exploration.front() > 0.0)) {
    refuse("exploration[0]", "0 with behaviour " + quoted(behaviour), "more than 0");
  }
  if (epochs > 1 && !(estimator == "reinforce" && programs.update)) {
    refuse("epochs", std::to_string(epochs), "1, or 'reinforce' with an update of programs");
  }
  if (epochs > 1 && behaviour != "on_policy" && !lags()) {
    refuse("epochs", std::to_string(epochs) + " with behaviour " + quoted(behaviour),
           "1, or 'on_policy'");
  }
}

void MdpPlan::validate_terms() const {
  MdpView v{};
  visit(SeeFields{}, *this, v);
  for (const BaselineTerm& term : baseline_terms) {
    if (row_of(term).follows_rewards == (v.estimator == MdpEstimator::kReinforce)) continue;
    refuse("baseline_terms", quoted(row_of(term).name) + " with estimator " + quoted(estimator),
           "a mean of the rewards with 'reinforce' only, and nothing else with it");
  }
}

void MdpPlan::validate_programs() const {
  MdpView v{};
  visit(SeeFields{}, *this, v);
  using Input = ProgramInput;
  const bool exact = v.estimator == MdpEstimator::kExactQ;
  const std::uint32_t seen = inputs_mask(Input::kTime, Input::kArms, Input::kSamples,
                                         Input::kPolicy, Input::kTheta, Input::kBehaviour) |
                             (exact ? inputs_mask(Input::kRewards) : 0u);
  const std::uint32_t visited =
      seen | inputs_mask(Input::kAction, Input::kReward, Input::kRatio, Input::kScore,
                         Input::kNatural, Input::kBaseline, Input::kAdvantage);
  ProgramOffers offers{};
  offers.baseline = seen;
  offers.weight = visited;
  offers.update = visited | inputs_mask(Input::kWeight);
  offers.optimiser = inputs_mask(Input::kTime, Input::kArms, Input::kTheta, Input::kGradient);
  // What a state becomes depends on what was drawn; what is subtracted, only on the state.
  offers.critic = (visited & ~inputs_mask(Input::kRewards, Input::kRatio, Input::kScore,
                                          Input::kNatural, Input::kBaseline, Input::kAdvantage));
  offers.group =
      inputs_mask(Input::kTime, Input::kSamples, Input::kReward, Input::kBaseline, Input::kWeight);
  offers.scale = inputs_mask(Input::kSamples, Input::kReward);
  offers.link = inputs_mask(Input::kTheta, Input::kArms);
  offers.quantity = inputs_mask(Input::kTime, Input::kArms, Input::kPolicy, Input::kRewards,
                                Input::kTheta, Input::kStart, Input::kBehaviour);
  require_programs(programs, offers);
  validate_quantities();
  if (programs.link && !programs.update && update != "vanilla") {
    refuse("programs['link']", "a link with update " + quoted(update), "'vanilla', or a program");
  }
  if (v.estimator == MdpEstimator::kExpected &&
      (programs.baseline || programs.weight || programs.update || programs.critic)) {
    refuse("programs", "a baseline, critic, weight or update with estimator " + quoted(estimator),
           "an estimator that draws episodes");
  }
  if (programs.scale && !programs.group) refuse("programs", "a scale", "one with a group");
  if ((episodes() > 1 || programs.group) && v.estimator != MdpEstimator::kReinforce) {
    refuse("samples", std::to_string(samples) + " with estimator " + quoted(estimator),
           "1, or 'reinforce'");
  }
  const bool plainly = behaviour == "on_policy" || lags();
  if ((episodes() > 1 || programs.group) && !plainly) {
    refuse("samples", std::to_string(samples) + " with behaviour " + quoted(behaviour),
           "1, or 'on_policy'");
  }
  if (v.estimator == MdpEstimator::kReinforce && (programs.weight || programs.update) && !plainly) {
    refuse("programs",
           "a weight or update with estimator " + quoted(estimator) + " and behaviour " +
               quoted(behaviour),
           "'on_policy'");
  }
}

void MdpPlan::validate_quantities() const {
  for (const std::string& name : programs.quantity_names()) {
    for (const Quantity<MdpView>& native : parts().mdp_quantities) {
      if (name == native.name) refuse("programs['quantities']", quoted(name), "a name of its own");
    }
  }
  require_count("quantity_states", quantity_states.size(),
                static_cast<std::int64_t>(programs.quantities().size()));
  for (std::size_t i = 0; i < quantity_states.size(); ++i) {
    require_between(item("quantity_states", i), quantity_states[i], 0,
                    static_cast<std::int64_t>(OverStates::kOccupancy));
  }
}

void MdpPlan::validate_start(const MdpModel& model) const {
  if (start_states.empty()) refuse("start_states", "an empty list", "at least one state");
  require_count("start_cumulative", start_cumulative.size(),
                static_cast<std::int64_t>(start_states.size()));
  double before = 0.0;
  for (std::size_t i = 0; i < start_states.size(); ++i) {
    const std::int32_t s = start_states[i];
    if (s < 0 || s >= model.states() || model.is_terminal(s)) {
      refuse(item("start_states", i), std::to_string(s), "a state that is not terminal");
    }
    if (!(start_cumulative[i] >= before)) {
      refuse(item("start_cumulative", i), show(start_cumulative[i]), "increasing numbers up to 1");
    }
    before = start_cumulative[i];
  }
  if (!(before > 0.0)) refuse("start_cumulative", "0", "a positive probability");
}

}  // namespace committal
