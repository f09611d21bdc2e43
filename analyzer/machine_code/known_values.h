// Follows constants and addresses of the thread's stack through a routine, to see what it can reach and share.
#pragma once

#include "analyzer/machine_code/calls.h"

namespace wicprof::analyzer {

/// Simplifies a function with its callees by the values that are known:
/// - Instructions that can never run are removed, and branches that are always or never taken become jumps or nothing.
///   Without optimisation, a function of a library is called with constants, and branches on them.
/// - Local loads and stores, and generic ones whose address is on the stack, read and write one register per word
///   (SassRegister, from 1 << 28 on) in place of memory. Such a generic load or store becomes `other`, since no other
///   thread can see its word, and so does arithmetic that computes such an address.
/// What is not known stays as it is.
void use_known_values(Routine& routine);

}  // namespace wicprof::analyzer
