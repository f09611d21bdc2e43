// What toggle says of the programs that it has changed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sessions/job.h"
#include "cli/sessions/own_session.h"
#include "protocol/control_messages.h"

namespace wicprof::cli {

/// "wic-prof toggle park --side host"; empty words and `both` are left out.
std::string toggle_command(std::string_view mode, std::string_view site, std::string_view side,
                           std::string_view strategy);

/// "halo (pid 4242, recorded into halo.wicprof)"
std::string program_of(const SessionStatus& status);
/// "all its waits"
std::string waits_of(WaitSide side);

struct Toggled {
  AnsweringSession session;
  ToggleReply reply;
};

/// `toggled`: not empty; several only of one job, by the same request. `ranks`: of that job.
std::string toggle_text(const std::vector<Toggled>& toggled, const std::optional<JobRanks>& ranks);
/// One session's answer; of several, `sessions` with these, and the job's in the same words.
nlohmann::ordered_json toggle_json(const std::vector<Toggled>& toggled, const std::optional<JobRanks>& ranks);

}  // namespace wicprof::cli
