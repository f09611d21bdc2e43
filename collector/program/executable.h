// The program's own file among the files that are mapped.
#pragma once

namespace wicprof::collector {

/// Whether an address lies in what the loader mapped of the program's executable. Any thread; takes no lock of the
/// loader.
bool in_executable(const void* address);

}  // namespace wicprof::collector
