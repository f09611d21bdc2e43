#include "cli/files/input_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "analyzer/measure/tasks.h"
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

Result<analyzer::TraceModel> load(const store::Reader& reader, const std::string& path) {
  return analyzer::load(reader, std::filesystem::path(path).filename().string());
}

Result<analyzer::TraceModel> load_once(const std::string& path) {
  const Result<store::Reader> reader = store::Reader::open(path);
  return reader ? load(*reader, path) : reader.error();
}

Result<std::vector<analyzer::TraceModel>> load_all_once(const std::string& path) {
  std::vector<analyzer::TraceModel> models;
  const Result<> done = store::Reader::each(path, [&](const store::Reader& reader) -> Result<> {
    Result<analyzer::TraceModel> model = load(reader, path);
    if (!model) return model.error();
    if (model->is_digest()) {
      model->name = model->meta_value(store::MetaKey::digest_of);  // more is to be seen there
      model->read_from = path;
    }
    models.push_back(*std::move(model));
    return ok();
  });
  if (!done) return done.error();
  return models;
}

/// What was read while somebody cut the index of a growing trace's log may be old, and is read again.
template <class Load>
auto load_current(const std::string& path, const Load& load_from) {
  keep_freed_memory();
  unsigned lost = store::lost_indexes();
  auto loaded = load_from(path);
  for (int i = 0; i < kReadAgain && lost != store::lost_indexes(); ++i) {
    lost = store::lost_indexes();
    loaded = load_from(path);
  }
  return loaded;
}

void note_state(const std::string& path, const analyzer::TraceModel& model) {
  if (model.complete) return;
  const std::string session = model.meta_value(store::MetaKey::session);
  if (session_runs(session)) {
    note(fmt::format("session '{1}' is still recording {0}: the answer covers the events so far", path, session));
  } else {
    warn(fmt::format("{} is incomplete: {}", path, model.incomplete_reason));
  }
}

}  // namespace

Result<analyzer::TraceModel> load_trace(const std::string& path) {
  Result<analyzer::TraceModel> model = load_current(path, load_once);
  if (model) note_state(path, *model);
  return model;
}

Result<std::vector<analyzer::TraceModel>> load_traces(const std::string& path) {
  Result<std::vector<analyzer::TraceModel>> models = load_current(path, load_all_once);
  if (!models) return models;
  for (const analyzer::TraceModel& model : *models) note_state(path, model);
  return models;
}

Result<std::vector<analyzer::TraceModel>> load_readable(const std::vector<std::string>& paths) {
  using Traces = Result<std::vector<analyzer::TraceModel>>;
  std::vector<std::optional<Traces>> loaded(paths.size());
  analyzer::Tasks tasks;  // most of the time for many digests is spent in opening files
  for (std::size_t i = 0; i < paths.size(); ++i)
    tasks.add([&, i] { loaded[i].emplace(load_current(paths[i], load_all_once)); });
  tasks.run();
  std::vector<analyzer::TraceModel> models;
  std::optional<Error> first;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string& path = paths[i];
    Traces& traces = *loaded[i];
    if (!traces) {
      if (paths.size() > 1) warn(fmt::format("left out: {}", traces.error().message));
      if (!first) first = traces.error();
      continue;
    }
    for (analyzer::TraceModel& model : *traces) {
      note_state(path, model);
      // The files of several machines may have one name.
      if (paths.size() > 1 && !model.is_digest()) model.name = path;
      models.push_back(std::move(model));
    }
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
