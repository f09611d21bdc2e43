// The program's modules: itself and the libraries that it has loaded.
#pragma once

#include <cstdint>
#include <string>

namespace wicprof::collector {

struct LoadedModule {
  std::string path;          ///< as the loader knows it; empty: the program itself
  std::uintptr_t begin = 0;  ///< what the addresses in the module's file are relative to
  bool found = false;

  bool is_program() const { return found && path.empty(); }
  /// The part of the path behind its last slash.
  std::string file_name() const { return path.substr(path.rfind('/') + 1); }
};

/// The module that holds an address. Any thread. Unlike dladdr(), does not take the lock that the loader holds while a
/// library's constructors run: those may wait for the calling thread.
LoadedModule module_at(const void* address);

/// Rises with each library that the program loads.
std::uint64_t modules_loaded();

}  // namespace wicprof::collector
