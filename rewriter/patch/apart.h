// Waits whose looks stand apart from their loop: ptxas keeps the code of a loop together, so that the rounds of a loop
// that contains a look jump over it, and pass the barriers of convergence that it needs.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Whether the wait's look can stand apart: the loop is one piece of text that begins with a label, which nothing but
/// the back edge names; each round passes the poll, which only reads; and all that the loop names is known outside of
/// it. A look is then entered from behind the poll, and the wait goes on in a copy of the loop.
bool stands_apart(const FunctionVerdicts& verdict, const LoopVerdict& loop);

/// A copy of the loop for waits that have looked, with what records their end. It comes behind the text of the look.
/// `text`: the module's. `function` has the site's loop, which stands apart.
std::string copy_text(std::string_view text, const Function& function, const Site& site);

}  // namespace wicprof::rewriter
