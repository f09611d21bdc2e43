#include "cli/ci/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "cli/ci/toml.h"
#include "cli/files/named_file.h"
#include "cli/record/capture.h"
#include "cli/record/wait_options.h"

namespace wicprof::cli {

namespace {

/// Converts a time with a unit to nanoseconds: "50us", "1.5ms", "2m". Empty for any other text.
std::optional<double> nanoseconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}};
  for (const auto& [name, factor] : kUnits) {
    if (unit == name && value * factor < 1e18) return value * factor;
  }
  return std::nullopt;
}

/// Reads the values of one table, keeps the first error, and finds keys that the configuration does not define.
class Table {
 public:
  Table(const toml::table& table, std::string name, std::string file, std::optional<Error>& error)
      : table_(table), name_(std::move(name)), file_(std::move(file)), error_(error) {}

  void number(const char* key, std::optional<double>& to, double min) {
    if (const toml::node* node = take(key)) {
      const std::optional<double> value = node->value<double>();
      if (!node->is_number() || !value || !std::isfinite(*value) || *value < min) {
        return wrong(key, fmt::format("a number of at least {:g}", min), *node);
      }
      to = value;
    }
  }
  void count(const char* key, int& to, int min, int max) {
    if (const toml::node* node = take(key)) {
      const std::optional<std::int64_t> value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
      if (!value || *value < min || *value > max) {
        return wrong(key, fmt::format("a whole number from {} to {}", min, max), *node);
      }
      to = static_cast<int>(*value);
    }
  }
  void time(const char* key, std::optional<double>& to) {
    if (const toml::node* node = take(key)) {
      const std::optional<std::string> text = node->value<std::string>();
      to = text ? nanoseconds(*text) : std::nullopt;
      if (!to) wrong(key, "a time such as \"50us\" or \"2m\" (ns, us, ms, s, m), in quotes", *node);
    }
  }
  void flag(const char* key, bool& to) {
    if (const toml::node* node = take(key)) {
      if (!node->is_boolean()) return wrong(key, "true or false", *node);
      to = *node->value<bool>();
    }
  }
  void text(const char* key, std::string& to) {
    if (const toml::node* node = take(key)) {
      if (!node->is_string()) return wrong(key, "a string in quotes", *node);
      to = *node->value<std::string>();
    }
  }
  /// One string, or a list of strings.
  void texts(const char* key, std::vector<std::string>& to) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (node->is_string()) {
      to = {*node->value<std::string>()};
      return;
    }
    const toml::array* list = node->as_array();
    bool good = list != nullptr && !list->empty();
    for (std::size_t i = 0; good && i < list->size(); ++i) {
      good = list->get(i)->is_string();
      if (good) to.push_back(*list->get(i)->value<std::string>());
    }
    if (!good) wrong(key, "a string or a list of strings, each in quotes", *node);
  }
  std::optional<Table> table(const char* key) {
    const toml::node* node = take(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_table()) {
      wrong(key, "a table", *node);
      return std::nullopt;
    }
    return Table(*node->as_table(), path(key), file_, error_);
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (const auto& [key, value] : table_) names.emplace_back(key.str());
    return names;
  }
  bool empty() const { return table_.empty(); }

  /// Reports that the value of `key` is invalid; `what` completes the sentence that starts with the key.
  void reject(const char* key, const std::string& what) {
    if (!error_) error_ = bad_input(fmt::format("{}: {} {}", file_, path(key), what));
  }
  /// Call this last: reports a key that was never read, which is probably misspelt.
  void reject_other_keys() {
    std::string known;
    for (const std::string& key : asked_) known += (known.empty() ? "" : ", ") + key;
    for (const auto& [key, node] : table_) {
      if (error_ || asked_.contains(std::string(key.str()))) continue;
      error_ = bad_input(fmt::format("{}:{}: unknown key {}; the keys {}are {}", file_, node.source().begin.line,
                                     path(std::string(key.str()).c_str()),
                                     name_.empty() ? "" : fmt::format("of {} ", name_), known));
    }
  }

 private:
  const toml::node* take(const char* key) {
    asked_.insert(key);
    return error_ ? nullptr : table_.get(key);
  }
  std::string path(const char* key) const { return name_.empty() ? key : name_ + "." + key; }
  void wrong(const char* key, const std::string& needs, const toml::node& node) {
    if (!error_) {
      error_ = bad_input(fmt::format("{}:{}: {} needs {}", file_, node.source().begin.line, path(key), needs));
    }
  }

  const toml::table& table_;
  std::string name_, file_;
  std::optional<Error>& error_;
  std::set<std::string> asked_;
};

void read_limits(Table& table, analyzer::SiteLimits& limits) {
  table.number("wait_share", limits.wait_share, 0);
  table.time("p99_wake_latency", limits.p99_wake_ns);
  table.number("polls_per_wait", limits.polls_per_wait, 0);
  table.number("missed_deadlines", limits.missed_deadlines, 0);
  table.number("predicted_gain", limits.predicted_gain, 0);
}

void read_run(Table& table, CiConfig& config) {
  table.count("repeat", config.repeat, 1, 1000);
  table.count("warm_up", config.warm_up, 0, 1000);
  std::vector<std::string> modes;
  table.texts("modes", modes);
  for (const std::string& word : modes) {
    const std::optional<Mode> mode = mode_from_name(word);
    if (!mode) return table.reject("modes", fmt::format("has '{}'; the modes are poll and park", word));
    config.modes.push_back(*mode);
  }
  if (config.modes.size() > 2) table.reject("modes", "has more than two; one is judged, two are compared");
  if (config.modes.size() == 2 && config.modes[0] == config.modes[1]) table.reject("modes", "names one mode twice");
  std::string strategy;
  table.text("strategy", strategy);
  if (const Result<WantedWait> park = park_wait(strategy); park) {
    config.park = *park;
  } else {
    table.reject("strategy", "is invalid: " + park.error().message);
  }
  std::optional<double> timeout;
  table.time("timeout", timeout);
  config.timeout = static_cast<TimeNs>(timeout.value_or(0));
  table.text("trace", config.trace);
  if (!config.trace.empty()) {
    CaptureOptions capture;
    capture.trace = config.trace;
    if (const auto read = read_capture(capture); !read) table.reject("trace", "is invalid: " + read.error().message);
  }
  table.texts("reference", config.reference);
  if (!config.reference.empty() && config.modes.size() == 2) {
    table.reject("reference", "names another build, and modes two modes; compare one pair at a time");
  }
  table.reject_other_keys();
}

void read_gate(Table& root, CiConfig& config) {
  analyzer::GateConfig& gate = config.gate;
  if (auto limits = root.table("limits")) {
    read_limits(*limits, gate.every_site);
    if (auto sites = limits->table("site")) {
      for (const std::string& name : sites->keys()) {
        if (auto site = sites->table(name.c_str())) {
          read_limits(*site, gate.sites[name]);
          if (site->empty()) site->reject("", "is empty; give it a limit");
          site->reject_other_keys();
        }
      }
    }
    limits->reject_other_keys();
  }
  if (auto gain = root.table("gain")) {
    gain->number("at_least", gate.min_gain, 0);
    gain->reject_other_keys();
    if (config.modes.size() != 2 && config.reference.empty()) {
      gain->reject("at_least", "needs two sides: run.modes = [\"poll\", \"park\"], or run.reference");
    }
  }
  if (auto compare = root.table("compare")) {
    std::optional<double> tolerance;
    compare->number("tolerance", tolerance, 0);
    gate.compare.tolerance = tolerance.value_or(gate.compare.tolerance);
    if (gate.compare.tolerance >= 1) compare->reject("tolerance", "is a share: 0.02 for 2 %");
    int min_iterations = static_cast<int>(gate.compare.min_iterations);
    compare->count("min_iterations", min_iterations, 2, 1'000'000);
    gate.compare.min_iterations = static_cast<std::size_t>(min_iterations);
    compare->text("nvtx", gate.compare.nvtx);
    compare->reject_other_keys();
  }
  if (auto baseline = root.table("baseline")) {
    baseline->texts("trace", config.baseline);
    baseline->flag("any_device", gate.any_device);
    if (config.baseline.empty())
      baseline->reject("trace", "is missing; name the baseline's trace, or a list of traces");
    baseline->reject_other_keys();
  }
  if (auto verdict = root.table("verdict")) {
    verdict->flag("allow_inconclusive", gate.allow_inconclusive);
    verdict->flag("allow_missing_data", gate.allow_missing_data);
    verdict->reject_other_keys();
  }
}

/// The line of a key or header with so many parts that the parser, and the freeing of its tables, would use up the
/// stack; 0: there is none.
std::size_t line_of_long_key(std::string_view text) {
  constexpr std::size_t kMostDots = 15;  // the keys of a configuration have two at most
  std::size_t line = 1, dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.') {
      if (++dots > kMostDots) return line;
    } else if (c == '"' || c == '\'') {
      // A string, which may be a part of a key. Three quotes begin one of several lines.
      const bool long_one = text.substr(at, 3) == std::string(3, c);
      const std::string end(long_one ? 3 : 1, c);
      for (at += end.size(); at < text.size() && text.substr(at, end.size()) != end; ++at) {
        if (text[at] == '\n' && !long_one) break;  // no string; the parser says so
        if (text[at] == '\\' && c == '"') ++at;
        if (at < text.size() && text[at] == '\n') ++line;
      }
      if (at < text.size() && text[at] == '\n') ++line;
      if (at < text.size() && text[at] == c) at += end.size() - 1;
    } else if (std::string_view("=,[]{}\n#").find(c) != std::string_view::npos) {
      if (c == '#') at = std::min(text.find('\n', at), text.size());
      if (at < text.size() && text[at] == '\n') ++line;
      dots = 0;
    }
  }
  return 0;
}

}  // namespace

bool only_runs(const CiConfig& config) {
  const analyzer::SiteLimits& limits = config.gate.every_site;
  const bool limited = limits.wait_share || limits.p99_wake_ns || limits.polls_per_wait || limits.missed_deadlines ||
                       limits.predicted_gain || !config.gate.sites.empty();
  return !limited && config.modes.size() < 2 && config.reference.empty() && config.baseline.empty();
}

Result<CiConfig> read_ci_config(const std::string& path) {
  if (const std::string why = why_no_file(path); !why.empty()) {
    return bad_input(fmt::format("cannot read the configuration: {}; wic-prof ci --example prints one", why));
  }
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) {
    return bad_input(
        fmt::format("cannot read the configuration: {} is no file; wic-prof ci --example prints one", path));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return bad_input(fmt::format("cannot read the configuration {}; check who may read it", path));
  return parse_ci_config(text.view(), path);
}

Result<CiConfig> parse_ci_config(std::string_view text, const std::string& path) {
  CiConfig config;
  bool empty = false;
  std::optional<Error> error;
  if (const std::size_t line = line_of_long_key(text); line != 0) {
    return bad_input(fmt::format(
        "{}:{}: a key with more than 16 parts is none of a configuration; wic-prof ci --example prints them", path,
        line));
  }
  try {
    const toml::table document = toml::parse(text, path);
    empty = document.empty();
    Table root(document, "", path, error);
    if (auto run = root.table("run")) read_run(*run, config);
    read_gate(root, config);
    root.reject_other_keys();
  } catch (const toml::parse_error& wrong) {
    return bad_input(fmt::format("{}:{}:{}: invalid TOML: {}", path, wrong.source().begin.line,
                                 wrong.source().begin.column, wrong.description()));
  }
  if (error) return *error;
  if (empty) {
    return bad_input(fmt::format(
        "{} is empty, so it checks nothing: give it [limits], two run.modes or a run.reference to compare, or a "
        "[baseline]; wic-prof ci --example prints one",
        path));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (std::string& trace : config.baseline) trace = (folder / trace).lexically_normal().string();
  return config;
}

}  // namespace wicprof::cli
