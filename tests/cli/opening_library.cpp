// Loaded by join_app: its constructor, for which the loader holds its lock, takes some time and opens a file.
#include <unistd.h>

#include <cstdio>

namespace {

[[maybe_unused]] const bool opened = [] {
  usleep(3000);
  std::FILE* const file = std::fopen("/dev/null", "r");
  return file != nullptr && std::fclose(file) == 0;
}();

}  // namespace
