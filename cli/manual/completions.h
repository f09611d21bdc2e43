// Completions of verbs, options and their values for shells.
#pragma once

#include <string>
#include <vector>

#include "cli/manual/verb_facts.h"

namespace wicprof::cli {

std::string bash_completion(const VerbFacts& program, const std::vector<VerbFacts>& verbs);
std::string zsh_completion(const VerbFacts& program, const std::vector<VerbFacts>& verbs);
std::string fish_completion(const VerbFacts& program, const std::vector<VerbFacts>& verbs);

}  // namespace wicprof::cli
