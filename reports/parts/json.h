// JSON documents: the value type and how it is written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace wicprof::reports {

using Json = nlohmann::ordered_json;

/// null for an empty optional or pointer.
Json or_null(const auto& value) { return value ? Json(*value) : Json(nullptr); }

/// Bytes that are not UTF-8 become U+FFFD; control characters are escaped, so that a terminal can show the text.
/// `indent`: spaces; -1: one line.
std::string dump_json(const Json& json, int indent = -1);

/// Two spaces of indentation and a newline at the end.
inline std::string json_document(const Json& json) { return dump_json(json, 2) + "\n"; }

}  // namespace wicprof::reports
