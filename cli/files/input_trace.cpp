#include "cli/files/input_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "analyzer/ranks/join.h"
#include "analyzer/words/format.h"
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

Result<std::vector<analyzer::TraceModel>> load_readable(const std::vector<std::string>& paths) {
  std::vector<analyzer::TraceModel> models;
  std::optional<Error> first;
  for (const std::string& path : paths) {
    Result<analyzer::TraceModel> model = load_trace(path);
    if (!model) {
      if (paths.size() > 1) warn(fmt::format("left out: {}", model.error().message));
      if (!first) first = model.error();
      continue;
    }
    if (paths.size() > 1) model->name = path;  // the files of several machines may have one name
    models.push_back(*std::move(model));
  }
  if (models.empty()) return *first;
  return models;
}

Result<analyzer::TraceModel> join_job(std::vector<analyzer::TraceModel> traces) {
  Result<analyzer::TraceModel> job = analyzer::join(std::move(traces));
  if (!job) return job;
  if (const std::vector<std::int32_t> missing = analyzer::missing_ranks(*job); !missing.empty()) {
    warn(fmt::format(
        "no trace has rank {} of the job{}: who was late in calls with a missing rank is not known", missing.front(),
        missing.size() == 1 ? "" : fmt::format(", nor {}", analyzer::count_of(missing.size() - 1, "other"))));
  }
  return job;
}

Result<analyzer::TraceModel> load_job(const std::vector<std::string>& paths) {
  Result<std::vector<analyzer::TraceModel>> models = load_readable(paths);
  if (!models) return models.error();
  if (models->size() == 1) return std::move(models->front());
  return join_job(*std::move(models));
}

}  // namespace wicprof::cli
