// Variables for what a program keeps in memory at places that it knows: its local memory, and what is behind pointers
// that stay as they are.
#pragma once

#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// Accesses to memory at a known place become moves if it is local, and get the place's variables else. Each piece of
/// the memory that no access divides is a variable, so memory that is written by bytes and read as a word is written as
/// a whole.
void find_memory(Program& program);

}  // namespace wicprof::rewriter
