// A library whose constructor calls the function whose address GUEST_CONSTRUCTOR holds.
#include <cstdlib>

namespace {
struct Constructor {
  Constructor() {
    const char* const address = std::getenv("GUEST_CONSTRUCTOR");
    if (address != nullptr) reinterpret_cast<void (*)()>(std::strtoul(address, nullptr, 16))();
  }
} constructor;
}  // namespace
