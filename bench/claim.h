// A measured claim: rows of figures with what each is compared to, and the bar that the ratio has to reach. A benchmark
// adds its rows and ends with `return claim.write();`; the JSON goes to -o FILE, kept as
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
  std::string compared_to = {};      ///< what the ratio relates the value to; empty when it stands alone
  std::optional<double> ratio = {};  ///< value / what it is compared to
  std::optional<double> bar = {};    ///< the least ratio (or the largest, with at_most) for the claim to hold
  bool at_most = false;

  std::optional<bool> holds() const;
};

class Claim {
 public:
  /// Takes --machine, --driver, --commit, -o FILE and --help from the command line, leaving the rest to option().
  /// Ends the program on --help and on an option without its value.
  Claim(std::string bench, std::string what, int argc, char** argv);

  /// The number given with --`name`, else `otherwise`. Declares the option for --help.
  std::int64_t option(const std::string& name, std::int64_t otherwise);
  std::string option(const std::string& name, const std::string& otherwise);

  void add(ClaimRow row) { rows_.push_back(std::move(row)); }

  /// Writes the JSON. The program's exit status: 0, 1 when a bar is missed, 2 for an option that is not known or a file
  /// that cannot be written.
  int write();

 private:
  std::optional<std::string> take(const std::string& name);
  std::string json() const;

  std::string bench_, command_;
  std::vector<std::pair<std::string, std::string>> given_;  // options not yet taken
  std::string output_ = "-", machine_, driver_, commit_;
  std::vector<ClaimRow> rows_;
};

/// The middle of the values (the mean of the two middle ones for an even count); 0 of none.
double median(std::vector<double> values);

}  // namespace wicprof::bench
