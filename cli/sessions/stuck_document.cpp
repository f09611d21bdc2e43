#include "cli/sessions/stuck_document.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/stuck/stuck.h"
#include "reports/json/stuck_json.h"

namespace wicprof::cli {

namespace {

nlohmann::ordered_json answered(nlohmann::ordered_json document, const SeenSession& seen) {
  document.update(reports::stuck_json(seen.view, analyzer::diagnose(seen.view)));
  document["not_seen"] = seen.not_seen;
  return document;
}

}  // namespace

nlohmann::ordered_json stuck_document(const SeenSession& seen, const std::vector<SessionStatus>& sessions) {
  const SessionStatus& first = sessions.front();
  nlohmann::ordered_json document{
      {"session", first.name}, {"app", first.app}, {"pid", first.app_pid}, {"trace", first.output}};
  nlohmann::ordered_json others = nlohmann::ordered_json::array();
  for (const SessionStatus& status : sessions) {
    if (&status != &first) others.push_back(status.name);
  }
  document["other_sessions"] = others;
  document["files"] = nlohmann::ordered_json::array();
  return answered(std::move(document), seen);
}

nlohmann::ordered_json stuck_document(const SeenSession& seen, const std::vector<std::string>& files) {
  return answered({{"session", ""},
                   {"app", ""},
                   {"pid", 0},
                   {"trace", files.front()},
                   {"other_sessions", nlohmann::ordered_json::array()},
                   {"files", files}},
                  seen);
}

}  // namespace wicprof::cli
