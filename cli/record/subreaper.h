// Has what the program's processes leave become children of wic-prof, which can wait for them then.
#pragma once

namespace wicprof::cli {

/// While it lives, descendants whose parent ends become children of this process instead of init's.
class Subreaper {
 public:
  /// `wanted` false: does nothing.
  explicit Subreaper(bool wanted);
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
  ~Subreaper();

 private:
  bool on_;
};

}  // namespace wicprof::cli
