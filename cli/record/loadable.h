// Whether a program can load a library of ours, asked before the program starts.
#pragma once

#include <string>
#include <vector>

namespace wicprof::cli {

/// Why `program` would not load `library`, in the words of the program's own loader: another kind of machine, a newer C
/// library needed, a folder without the right to execute. Empty: it would, or nobody can say. A script stands for its
/// interpreter. Starts that loader and waits for it, a few ms.
std::string why_not_loadable(const std::string& program, const std::string& library);

/// Whether `program`, or the interpreter of a script, is built with AddressSanitizer as a library, which ends a program
/// that has another library loaded before.
bool needs_address_sanitizer(const std::string& program);

/// The first of a command's words that is a program linked with MPI: the program itself, or the one that a launcher
/// starts. Empty: none is. Starts the loader once per program among the words, a few ms.
std::string mpi_program_in(const std::vector<std::string>& words);

}  // namespace wicprof::cli
