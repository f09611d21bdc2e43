// A measured claim: rows of figures, each with its baseline and the bar that the ratio must reach. A benchmark adds its
// rows and ends with `return claim.write();`. The JSON goes to -o FILE and is kept as
// docs/results/<bench>.<machine>.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wicprof::bench {

using Parameter = std::variant<std::int64_t, double, std::string>;

struct ClaimRow {
  std::string name;
  std::map<std::string, Parameter> params;
  double value = 0;
  std::string unit;
  std::string compared_to = {};      ///< the baseline of the ratio; empty for a value without baseline
  std::optional<double> ratio = {};  ///< value / baseline, unless compared_to says otherwise
  std::optional<double> bar = {};    ///< the minimum ratio (with at_most: the maximum) for the claim to hold
  bool at_most = false;

  std::optional<bool> holds() const;
};

class Claim {
 public:
  /// Parses --machine, --driver, --commit, -o FILE and --help; option() handles the rest. Exits on --help and on an
  /// option without a value.
  Claim(std::string bench, std::string what, int argc, char** argv);

  /// The value given with --`name`, else `otherwise`. Exits if a number is not above 0.
  std::int64_t option(const std::string& name, std::int64_t otherwise);
  std::string option(const std::string& name, const std::string& otherwise);

  void add(ClaimRow row) { rows_.push_back(std::move(row)); }

  /// Writes the JSON. Returns the exit status: 0; 1 if a bar is missed; 2 for an unknown option or an unwritable file.
  int write();

 private:
  std::optional<std::string> take(const std::string& name);
  std::string json() const;

  std::string bench_, command_;
  std::vector<std::pair<std::string, std::string>> unread_options_;  // no option() call has read them yet
  std::string output_ = "-", machine_, driver_, commit_;
  std::vector<ClaimRow> rows_;
};

/// The median (the mean of the two middle values for an even count); 0 if `values` is empty.
double median(std::vector<double> values);

}  // namespace wicprof::bench
