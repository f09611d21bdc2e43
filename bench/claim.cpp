#include "bench/claim.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "protocol/utc_time.h"

namespace wicprof::bench {

namespace {

std::string trimmed(std::string text) {
  const auto blank = [](unsigned char c) { return c <= ' '; };
  text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
  return text;
}

// The first line of a file that starts with `key`, without the key and the colon after it.
std::string line_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':', key.size());
    return trimmed(line.substr(colon == std::string::npos ? key.size() : colon + 1));
  }
  return {};
}

std::string output_of(const char* command) {
  std::string text;
  if (FILE* pipe = popen(command, "r")) {
    char part[256];
    while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
    if (pclose(pipe) != 0) text.clear();
  }
  return trimmed(text);
}

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

// Recorded commands keep only the last part of file names.
std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::optional<bool> ClaimRow::holds() const {
  if (!ratio || !bar) return std::nullopt;
  return at_most ? *ratio <= *bar : *ratio >= *bar;
}

Claim::Claim(std::string bench, std::string what, int argc, char** argv) : bench_(std::move(bench)), command_(bench_) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--help" || name == "-h") {
      std::cout << bench_ << ": " << what
                << "\n  -o FILE         write the JSON to FILE; - is stdout\n"
                   "  --machine TEXT  name of the machine (default: the CPU model)\n"
                   "  --driver TEXT   GPU driver (default: as the system reports, or none)\n"
                   "  --commit TEXT   measured commit (default: as git reports)\n"
                   "other options: --NAME VALUE, as in `command` of the JSON\n";
      std::exit(0);
    }
    std::string value;
    const std::size_t equals = name.find('=');
    if (name.starts_with("--") && equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    } else {
      std::cerr << bench_ << ": " << name << " needs a value; see --help\n";
      std::exit(2);
    }
    unread_options_.emplace_back(name, value);
  }
  output_ = take("-o").value_or("-");
  machine_ = take("--machine").value_or("");
  driver_ = take("--driver").value_or("");
  commit_ = take("--commit").value_or("");
  if (machine_.empty()) machine_ = or_unknown(line_of("/proc/cpuinfo", "model name"));
  if (driver_.empty()) driver_ = line_of("/proc/driver/nvidia/version", "NVRM version");
  if (driver_.empty()) driver_ = "none";
  if (commit_.empty()) commit_ = or_unknown(output_of("git describe --always --dirty --abbrev=12 2>/dev/null"));
}

std::optional<std::string> Claim::take(const std::string& name) {
  const auto at = std::find_if(unread_options_.begin(), unread_options_.end(),
                               [&](const auto& option) { return option.first == name; });
  if (at == unread_options_.end()) return std::nullopt;
  std::string value = at->second;
  unread_options_.erase(at);
  return value;
}

std::string Claim::option(const std::string& name, const std::string& otherwise) {
  std::string value = take("--" + name).value_or(otherwise);
  command_ += " --" + name + " " + last_part(value);
  return value;
}

std::int64_t Claim::option(const std::string& name, std::int64_t otherwise) {
  const std::string text = option(name, std::to_string(otherwise));
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || (value <= 0 && value != otherwise)) {
    std::cerr << bench_ << ": --" << name << " needs a number above 0, not '" << text << "'\n";
    std::exit(2);
  }
  return value;
}

std::string Claim::json() const {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const ClaimRow& row : rows_) {
    ordered_json params = ordered_json::object();
    for (const auto& [name, value] : row.params) {
      std::visit([&params, &key = name](const auto& v) { params[key] = v; }, value);
    }
    const auto or_null = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(nullptr); };
    rows.push_back({{"name", row.name},
                    {"params", params},
                    {"value", row.value},
                    {"unit", row.unit},
                    {"compared_to", row.compared_to.empty() ? ordered_json(nullptr) : ordered_json(row.compared_to)},
                    {"ratio", or_null(row.ratio)},
                    {"bar", or_null(row.bar)},
                    {"holds", or_null(row.holds())}});
  }
  const ordered_json document = {{"bench", bench_},   {"date", utc_time()},  {"machine", machine_}, {"driver", driver_},
                                 {"commit", commit_}, {"command", command_}, {"rows", rows}};
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

int Claim::write() {
  if (!unread_options_.empty()) {
    std::cerr << bench_ << ": unknown option " << unread_options_.front().first << "; see --help\n";
    return 2;
  }
  bool all_hold = true;
  for (const ClaimRow& row : rows_) {
    const bool holds = row.holds().value_or(true);
    all_hold = all_hold && holds;
    if (!holds)
      std::cerr << bench_ << ": " << row.name << ": the ratio " << *row.ratio << " misses " << *row.bar << "\n";
  }
  if (output_ == "-") {
    std::cout << json();
  } else {
    std::ofstream out(output_);
    out << json();
    if (!out.flush()) {
      std::cerr << bench_ << ": cannot write " << output_ << "; name another file with -o\n";
      return 2;
    }
  }
  return all_hold ? 0 : 1;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace wicprof::bench
