// The programs of a plan, by what they are for.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/program.hpp"

namespace committal {

// Owns what a ProgramSetView points to.
class ProgramSet {
 public:
  using Held = std::shared_ptr<const Program>;

  Held baseline;
  Held weight;
  Held update;
  Held link;
  Held optimiser;
  Held critic;  // gives what is subtracted, and itself; its states are those of every state
  Held scale;   // gives what A of all episodes is divided by
  Held group;   // gives A of the episodes of one group

  void add_quantity(const std::string& name, Held program);
  const std::vector<std::string>& quantity_names() const { return names_; }
  const std::vector<Held>& quantities() const { return quantities_; }
  ProgramSetView view() const;

 private:
  std::vector<std::string> names_;
  std::vector<Held> quantities_;
  std::vector<const ProgramView*> views_;
};

// What a kind of plan offers to each of its programs: inputs as bits.
struct ProgramOffers {
  std::uint32_t baseline;
  std::uint32_t weight;
  std::uint32_t update;
  std::uint32_t link;
  std::uint32_t optimiser;
  std::uint32_t critic;
  std::uint32_t scale;
  std::uint32_t group;
  std::uint32_t quantity;
  bool sample_states;  // whether a baseline, weight or update may keep states
};

// Refuses programs whose inputs, outputs or states are not what their place asks for.
void require_programs(const ProgramSet& programs, const ProgramOffers& offers);

}  // namespace committal
