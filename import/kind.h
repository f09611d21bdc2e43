// What a file is, by its first bytes and its name.
#pragma once

#include <string>

#include "protocol/result.h"

namespace wicprof::imports {

enum class FileKind { nsys_sqlite, kineto_json, flight_recorder };

/// Error: the file cannot be opened, is empty, or is of a kind that nobody but its vendor can read: the message names
/// the command that converts it.
Result<FileKind> kind_of(const std::string& path);

}  // namespace wicprof::imports
