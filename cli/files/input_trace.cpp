#include "cli/files/input_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/files/process_memory.h"
#include "cli/terminal/messages.h"
#include "protocol/session.h"
#include "store/read/reader.h"
#include "store/sqlite/system_calls.h"

namespace wicprof::cli {

namespace {

constexpr int kReadAgain = 10;

bool session_runs(const std::string& name) {
  const Result<std::vector<SessionInfo>> sessions = list_sessions();
  return sessions && std::any_of(sessions->begin(), sessions->end(), [&](const auto& s) { return s.name == name; });
}

Result<analyzer::TraceModel> load_once(const std::string& path) {
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return reader.error();
  return analyzer::load(*reader, std::filesystem::path(path).filename().string());
}
}  // namespace

Result<analyzer::TraceModel> load_trace(const std::string& path) {
  keep_freed_memory();
  unsigned lost = store::lost_indexes();
  Result<analyzer::TraceModel> model = load_once(path);
  // What was read while somebody cut the index of a growing trace's log may be old.
  for (int i = 0; i < kReadAgain && lost != store::lost_indexes(); ++i) {
    lost = store::lost_indexes();
    model = load_once(path);
  }
  if (!model) return model.error();
  if (!model->complete) {
    const std::string session = model->meta_value(store::MetaKey::session);
    if (session_runs(session)) {
      note(fmt::format("session '{1}' is still recording {0}: the answer covers the events so far", path, session));
    } else {
      warn(fmt::format("{} is incomplete: {}", path, model->incomplete_reason));
    }
  }
  return model;
}

}  // namespace wicprof::cli
