// What keeps kernels of this process from running beside each other, or takes their room, as far as the process can
// tell.
#pragma once

#include <functional>
#include <string>

namespace wic {

/// Looks up an environment variable; nullptr if it is not set.
using Lookup = std::function<const char*(const char* name)>;

/// Why waits between kernels, or between a kernel and the host, may not end before their deadline, with the cure; empty
/// if nothing is known.
std::string what_prevents_overlap(const Lookup& variable);

}  // namespace wic
