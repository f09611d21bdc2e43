// The colours of the HTML report, from analyzer/words/colours.h. The style, the drawings and the script name them by
// token.
#pragma once

#include <string>

#include "analyzer/words/colours.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

/// Dark if the browser or the page's switch asks for it; always light on paper.
inline std::string colour_css() {
  const std::string light = css_variables(false), dark = css_variables(true);
  return ":root { color-scheme: light;" + light + " }\n@media screen {\n@media (prefers-color-scheme: dark) {\n" +
         ":root:not([data-theme=light]) { color-scheme: dark;" + dark +
         " } }\n:root[data-theme=dark] { color-scheme: dark;" + dark + " }\n}\n";
}

}  // namespace wicprof::reports::html
