// What `wic-prof stuck --format json` says of sessions, as docs/schemas/stuck.schema.json describes it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/sessions/stuck_view.h"
#include "protocol/control_messages.h"

namespace wicprof::cli {

/// `sessions`: those that `seen` was made of, at least one.
nlohmann::ordered_json stuck_document(const SeenSession& seen, const std::vector<SessionStatus>& sessions);

/// The same of traces of one job, or of dumps; `seen` was made of them.
nlohmann::ordered_json stuck_document(const SeenSession& seen, const std::vector<std::string>& files);

}  // namespace wicprof::cli
