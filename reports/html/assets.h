// The report's style and script: .css and .js files of this folder, embedded by CMake (cmake/WicEmbed.cmake).
#pragma once

#include <string_view>

namespace wicprof::reports::html {

extern const std::string_view kStyle;
extern const std::string_view kScript;
/// Of kScript, in hexadecimal: the page allows this script and no other (page.cpp).
extern const std::string_view kScriptSha256;

}  // namespace wicprof::reports::html
