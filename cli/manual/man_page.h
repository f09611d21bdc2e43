// Man pages of section 1: wic-prof(1), and wic-prof-VERB(1) for each verb.
#pragma once

#include <string>
#include <vector>

#include "cli/manual/verb_facts.h"

namespace wicprof::cli {

/// `page`: the program or one of `verbs`, whose pages it names.
std::string man_page(const VerbFacts& page, const VerbFacts& program, const std::vector<VerbFacts>& verbs);

/// "wic-prof-run"; "wic-prof" for the program.
std::string page_name(const VerbFacts& page, const VerbFacts& program);

}  // namespace wicprof::cli
