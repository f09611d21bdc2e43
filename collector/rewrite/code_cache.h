// Patched code from earlier runs of programs, by content: $XDG_CACHE_HOME/wic-prof/rewrite, or ~/.cache there. A later
// load of the same image on the same kind of device with the same driver needs neither analysis nor trial. The machine
// code is in the driver's own cache: the driver has no way to give it away but as code that is meant to be linked,
// which ptxas makes differently (docs/design/rewriter.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "rewriter/load/replacement.h"

namespace wicprof::collector {

/// Any thread, any process. Every failure of a file, and code that is not what was stored, means that there is no
/// entry.
class CodeCache {
 public:
  /// Files beyond this size together are removed, the oldest first, when an entry is added (chosen).
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{512} << 20;

  explicit CodeCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The user's folder; empty: there is none, and nothing is kept.
  static std::filesystem::path user_folder();

  /// The name of what becomes of `image` there: the same name means the same content. `machine`: what the result
  /// depends on beyond the image.
  static std::string key(std::string_view image, std::string_view machine);

  /// What was stored: a replacement with its text, or one without text with the reason in `left_alone`.
  std::optional<rewriter::Replacement> find(const std::string& key) const;
  void store(const std::string& key, const rewriter::Replacement& replacement) const;
  /// The file with the entry's text.
  std::filesystem::path code_file(const std::string& key) const { return folder_ / (key + ".ptx"); }

 private:
  std::filesystem::path folder_;
};

}  // namespace wicprof::collector
