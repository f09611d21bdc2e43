// The analysed facts that the window receives from a process of its own.
#include "gui/source/facts.h"

#include <memory>

#include "tests/analyzer/synthetic.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {

void run(std::string_view input) {
  const std::optional<gui::Facts> facts = gui::unpack_facts(input);
  if (facts) require(gui::pack_facts(*facts) == input, "facts that were unpacked have the same bytes again");
}

std::vector<std::string> seeds() {
  using namespace analyzer;
  std::vector<std::string> all{gui::pack_facts({})};
  TraceModel small = synthetic::empty_program();
  synthetic::Handoff handoff;
  handoff.waiters = 2;
  handoff.iterations = 3;
  synthetic::add_handoff(small, handoff);
  settle(small);
  all.push_back(gui::pack_facts(gui::make_portable_facts(std::make_shared<const TraceModel>(std::move(small)))));
  return all;
}

}  // namespace wicprof::fuzz
