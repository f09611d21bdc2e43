#include "cli/files/input_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/files/process_memory.h"
#include "cli/terminal/messages.h"
#include "protocol/session.h"
#include "store/read/reader.h"

namespace wicprof::cli {

namespace {
bool session_runs(const std::string& name) {
  const Result<std::vector<SessionInfo>> sessions = list_sessions();
  return sessions && std::any_of(sessions->begin(), sessions->end(), [&](const auto& s) { return s.name == name; });
}
}  // namespace

Result<analyzer::TraceModel> load_trace(const std::string& path) {
  keep_freed_memory();
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return reader.error();
  Result<analyzer::TraceModel> model = analyzer::load(*reader, std::filesystem::path(path).filename().string());
  if (!model) return model.error();
  if (!model->complete) {
    const std::string session = model->meta_value("session");
    if (session_runs(session)) {
      note(fmt::format("session '{1}' is still recording {0}: the answer covers the events so far", path, session));
    } else {
      warn(fmt::format("{} is incomplete: {}", path, model->incomplete_reason));
    }
  }
  return model;
}

}  // namespace wicprof::cli
