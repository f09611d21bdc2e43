// The colours of the HTML report are those of all pictures (analyzer/words/colours.h): style.css, the drawings and the
// script name them by token.
#pragma once

#include <string>

#include "analyzer/words/colours.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

/// Dark where the browser asks for it or the page's switch says so; paper is light.
inline std::string colour_css() {
  const std::string light = css_variables(false), dark = css_variables(true);
  return ":root { color-scheme: light;" + light + " }\n@media screen {\n@media (prefers-color-scheme: dark) {\n" +
         ":root:not([data-theme=light]) { color-scheme: dark;" + dark +
         " } }\n:root[data-theme=dark] { color-scheme: dark;" + dark + " }\n}\n";
}

}  // namespace wicprof::reports::html
