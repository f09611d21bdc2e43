// The program that libFuzzer drives. With WICPROF_FUZZ_SEEDS=FOLDER it writes the target's seeds there, and ends.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("WICPROF_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  bool written = true;
  std::size_t number = 0;
  for (const std::string& seed : wicprof::fuzz::seeds()) {
    std::ofstream file(std::string(folder) + "/seed" + std::to_string(number++), std::ios::binary);
    written = static_cast<bool>(file << seed << std::flush) && written;
  }
  std::_Exit(written ? 0 : 1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wicprof::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
