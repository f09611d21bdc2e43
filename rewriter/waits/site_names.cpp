#include "rewriter/waits/site_names.h"

#include "protocol/control.h"

namespace wicprof::rewriter {

namespace {

std::string cut(std::string name) {
  constexpr std::size_t kLongest = kMaxSiteName - 1;
  return name.size() > kLongest ? name.substr(name.size() - kLongest) : name;
}

}  // namespace

const std::string& SiteNames::of(std::string_view wanted, const std::string& owner) {
  const auto [known, is_new] = names_.try_emplace(owner, cut(std::string(wanted)));
  std::string& name = known->second;
  if (!is_new || taken_.insert(name).second) return name;
  const std::string base(wanted.substr(0, wanted.find('#')));
  for (int& last = last_.try_emplace(base, 1).first->second; !taken_.insert(name).second;) {
    name = cut(base + '#' + std::to_string(++last));
  }
  return name;
}

}  // namespace wicprof::rewriter
