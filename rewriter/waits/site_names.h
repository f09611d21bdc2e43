// Names of patched loops, as users see and write them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace wicprof::rewriter {

/// Gives each site a name of its own.
class SiteNames {
 public:
  /// `wanted`, or where another owner has it, that with "#2", "#3" and so on; cut from the left to what a session
  /// takes. The same owner gets the same name again.
  const std::string& of(std::string_view wanted, const std::string& owner);

 private:
  std::map<std::string, std::string, std::less<>> names_;  // by owner
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int, std::less<>> last_;  // the last number of a name
};

}  // namespace wicprof::rewriter
