#include "bench/made_run/text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/analyzer/made_programs/made_program.h"

namespace bench {

namespace made = wicprof::analyzer::made;

namespace {

/// A block's work between two messages, of 16 bytes each: some microseconds on a GPU.
constexpr std::uint32_t kLeastElements = 512, kMostElements = 16'384;
/// Programs whose words lie in pinned host memory.
constexpr std::uint32_t kHostWordsPercent = 25;
/// Separates the stream of what is drawn here from the program's own.
constexpr std::uint64_t kHere = 0x72756e73;

BlockAction block_action(const made::Action& act) {
  BlockAction action;
  action.word = act.word;
  action.value = act.value;
  action.iteration = act.iteration;
  action.site = static_cast<std::uint32_t>(act.site);
  action.payload = {act.announcement.offset, act.announcement.span, act.announcement.bytes, act.announcement.pieces,
                    act.announcement.regular};
  switch (act.kind) {
    case made::Action::Kind::work:
      action.does = Does::work;
      break;
    case made::Action::Kind::signal:
      action.does = Does::signal;
      break;
    case made::Action::Kind::wait:
      action.does = act.at_least ? Does::wait_at_least : Does::wait_equal;
      break;
    case made::Action::Kind::clear:
      action.does = Does::clear;
      break;
    case made::Action::Kind::wait_cleared:
      action.does = Does::wait_cleared;
      break;
  }
  return action;
}

/// Per site, the parties that release and wait.
struct Users {
  std::set<std::uint32_t> release, wait;
};

}  // namespace

std::optional<MadeText> made_text(std::uint64_t seed) {
  const made::MadeScript program = made::make_script(seed);
  const made::Kind& kind = program.plan.kind;
  const made::Script& script = program.script;
  const bool one_device = kind.parties == made::Parties::blocks_of_one_device;
  if (kind.parties == made::Parties::with_host) return std::nullopt;
  if (!one_device && kind.sites != made::Sites::one_per_pair_and_direction) return std::nullopt;

  made::Random random(seed ^ kHere);
  MadeText text;
  text.words = script.words;
  text.names_wanted = script.names_wanted;
  text.host_words = made::chance(random, kHostWordsPercent);
  text.parts.resize(one_device ? 1 : program.plan.parties);
  std::map<std::uint32_t, Users> users;
  for (const made::ScriptThread& thread : script.threads) {
    MadePart& part = text.parts[one_device ? 0 : thread.party];
    BlockText block{static_cast<std::uint32_t>(part.actions.size()), 0};
    std::uint32_t extra = 0;
    for (const made::Action& act : thread.actions) {
      BlockAction action = block_action(act);
      if (action.does == Does::work)
        action.elements =
            static_cast<std::uint32_t>(made::draw(random, kLeastElements, kMostElements) * thread.slowness);
      if (action.does == Does::signal) users[action.site].release.insert(thread.party);
      if (act.kind == made::Action::Kind::wait) users[action.site].wait.insert(thread.party);
      extra = std::max(extra, act.extra_waiters);
      text.iterations = std::max(text.iterations, act.iteration);
      part.actions.push_back(action);
    }
    block.end = static_cast<std::uint32_t>(part.actions.size());
    part.blocks.push_back(block);
    // Blocks that wait for the same messages and do nothing else.
    for (std::uint32_t e = 0; e < extra; ++e) {
      BlockText waiter{static_cast<std::uint32_t>(part.actions.size()), 0};
      for (const made::Action& act : thread.actions) {
        if (act.kind == made::Action::Kind::wait && act.extra_waiters > e) part.actions.push_back(block_action(act));
      }
      waiter.end = static_cast<std::uint32_t>(part.actions.size());
      part.blocks.push_back(waiter);
    }
  }
  for (const auto& row : script.sites) {
    MadeSite site;
    site.name = "made." + std::to_string(row.id);
    site.acknowledgement = row.purpose == wicprof::SitePurpose::acknowledgement;
    const Users& of = users[static_cast<std::uint32_t>(row.id)];
    if (!one_device && of.release.size() == 1 && of.wait.size() == 1)
      site.ends = {*of.release.begin(), *of.wait.begin()};
    text.sites.push_back(std::move(site));
  }
  nlohmann::json said{{"kind", kind.name()},
                      {"half", made::half_of(kind) == made::Half::improve ? "improve" : "judge"},
                      {"model", wicprof::analyzer::model_name(program.plan.model)},
                      {"pattern", wicprof::analyzer::pattern_name(program.plan.pattern)},
                      {"pattern_shown", program.plan.pattern_shown},
                      {"devices", text.devices()},
                      {"host_words", text.host_words}};
  text.description = said.dump();
  return text;
}

}  // namespace bench
