// JSON documents: the value type and how it is written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace wicprof::reports {

using Json = nlohmann::ordered_json;

/// null for an empty optional or pointer.
Json or_null(const auto& value) { return value ? Json(*value) : Json(nullptr); }

/// Two spaces of indentation and a newline at the end; bytes that are not UTF-8 become U+FFFD.
std::string json_document(const Json& json);

}  // namespace wicprof::reports
