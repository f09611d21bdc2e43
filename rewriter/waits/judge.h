// The verdict on one loop.
#pragma once

#include "rewriter/waits/function_flow.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {

/// `loop`: one of `flow`, of which the loops inside it have been judged. The place of the back edge stays open.
LoopVerdict judge(FunctionFlow& flow, const Loop& loop);

}  // namespace wicprof::rewriter
