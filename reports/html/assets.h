// The report's style and script: .css and .js files of this folder, embedded by CMake (cmake/WicEmbed.cmake).
#pragma once

#include <string_view>

namespace wicprof::reports::html {

extern const std::string_view kStyle;
extern const std::string_view kScript;
/// The hash of kScript, in hexadecimal: the page allows only this script to run (report_html.cpp).
extern const std::string_view kScriptSha256;

}  // namespace wicprof::reports::html
