#include "plan/programs.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/task.hpp"
#include "kernels/table.hpp"

namespace committal {
namespace {

enum Shapes : unsigned { kRun = 1, kArm = 2, kSample = 4, kSampleArm = 8 };

void require_program(const std::string& argument, const ProgramSet::Held& program,
                     std::uint32_t offered, unsigned shapes, bool state, const char* second = "") {
  if (!program) return;
  const ProgramView& view = program->view();
  for (std::size_t i = 0; i < program->inputs().size(); ++i) {
    const ProgramInputUse& input = view.inputs[static_cast<std::int64_t>(i)];
    if (input.state >= 0) continue;
    if (input.known >= 0 && (offered >> input.known & 1u) != 0) continue;
    std::string allowed = "one of";
    for (std::int64_t k = 0; k < rows_of(ProgramInput{}).count; ++k) {
      if ((offered >> k & 1u) != 0) allowed.append(" ").append(quoted(kProgramInputs[k].name));
    }
    refuse(argument, "a program with the input " + quoted(program->inputs()[i]),
           offered == 0 ? "no such program here" : allowed);
  }
  std::vector<std::string> expected{"value"};
  if (*second != '\0') expected.emplace_back(second);
  if (program->outputs() != expected) {
    refuse(argument, "a program with other outputs",
           *second != '\0' ? "'value' and " + quoted(second) : "'value'");
  }
  for (std::int64_t i = 0; i < view.outputs.count; ++i) {
    const auto shape = static_cast<int>(view.output_shape(i));
    if ((shapes >> shape & 1u) != 0) continue;
    std::string allowed = "shape";
    for (std::int64_t k = 0; k < rows_of(RowShape{}).count; ++k) {
      if ((shapes >> k & 1u) != 0) allowed.append(" ").append(quoted(kRowShapes[k].name));
    }
    refuse(argument, "a program that gives shape " + quoted(kRowShapes[shape].name), allowed);
  }
  if (!state && !program->states().empty()) {
    refuse(argument, "a program with states", "one without");
  }
}

}  // namespace

void ProgramSet::add_quantity(const std::string& name, Held program) {
  names_.push_back(name);
  views_.push_back(&program->view());
  quantities_.push_back(std::move(program));
}

ProgramSetView ProgramSet::view() const {
  const auto seen = [](const Held& program) { return program ? &program->view() : nullptr; };
  return {
      seen(baseline), seen(weight),    seen(update),
      seen(link),     seen(optimiser), seen(critic),
      seen(scale),    seen(group),     {views_.data(), static_cast<std::int64_t>(views_.size())}};
}

void require_programs(const ProgramSet& programs, const ProgramOffers& offers) {
  require_program("programs['baseline']", programs.baseline, offers.baseline, kRun | kSample,
                  offers.sample_states);
  require_program("programs['weight']", programs.weight, offers.weight, kRun | kSample,
                  offers.sample_states);
  require_program("programs['update']", programs.update, offers.update, kArm | kSampleArm,
                  offers.sample_states);
  require_program("programs['link']", programs.link, offers.link, kArm, false, "slope");
  require_program("programs['optimiser']", programs.optimiser, offers.optimiser, kArm, true);
  if (programs.critic && offers.critic == 0) {
    refuse("programs", "a critic", "a baseline with states: there is one state only");
  }
  require_program("programs['critic']", programs.critic, offers.critic, kRun, true, "own");
  if ((programs.group || programs.scale) && offers.group == 0) {
    refuse("programs", "a group", "a baseline of the samples: there are no episodes");
  }
  require_program("programs['scale']", programs.scale, offers.scale, kRun, false);
  require_program("programs['group']", programs.group, offers.group, kSample, false);
  const std::vector<std::string>& names = programs.quantity_names();
  const std::int64_t room =
      kMostQuantities - std::max(parts().quantities.count, parts().mdp_quantities.count);
  require_between("the number of programs['quantities']", static_cast<std::int64_t>(names.size()),
                  0, room);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string argument = "programs['quantities'][" + quoted(names[i]) + "]";
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse(argument, "two of that name", "every name once");
    }
    require_program(argument, programs.quantities()[i], offers.quantity, kRun | kArm, false);
  }
}

}  // namespace committal
