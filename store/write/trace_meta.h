// The facts about the recording as a whole, which become the meta rows of the trace.
#pragma once

#include <map>
#include <set>
#include <string>

#include "store/format/meta_key.h"
#include "store/sqlite/text_table.h"

namespace wicprof::store {

class TraceMeta {
 public:
  void set(MetaKey key, const std::string& value) {
    values_[key] = valid_utf8(value);
    changed_.insert(key);
  }
  /// nullptr if the key was never set.
  const std::string* find(MetaKey key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  void remove(MetaKey key) {
    values_.erase(key);
    changed_.erase(key);
  }

  /// The keys whose rows are out of date.
  const std::set<MetaKey>& changed() const { return changed_; }
  void mark_written() { changed_.clear(); }
  void mark_all_changed() {
    for (const auto& [key, value] : values_) changed_.insert(key);
  }

 private:
  std::map<MetaKey, std::string> values_;
  std::set<MetaKey> changed_;
};

}  // namespace wicprof::store
