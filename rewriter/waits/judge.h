// The verdict on one loop.
#pragma once

#include <map>
#include <vector>

#include "code/graph.h"
#include "rewriter/flow/live_values.h"
#include "rewriter/flow/names.h"
#include "rewriter/flow/program.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {

/// What the judgements of a function's loops share. `of` and `its_program` must outlive it.
struct FunctionFlow {
  FunctionFlow(const Function& of, const Program& its_program)
      : function(of),
        program(its_program),
        graph(graph_of(successors_of(program))),
        names(function),
        live(program, graph) {
    loops = loops_of(graph, &irreducible);
    writers = writers_in(program);
    loops_with.resize(graph.blocks.size());
    for (const Loop& loop : loops) {
      for (const int block : loop.blocks) loops_with[index_of(block)].push_back(&loop);
    }
  }
  FunctionFlow(const FunctionFlow&) = delete;
  FunctionFlow& operator=(const FunctionFlow&) = delete;

  const Function& function;
  const Program& program;
  Graph graph;
  Names names;
  LiveValues live;
  std::vector<Loop> loops;
  std::vector<int> irreducible;
  std::vector<std::vector<std::size_t>> writers;     ///< writers_in(program)
  std::vector<std::vector<const Loop*>> loops_with;  ///< per block, those that contain it
  std::map<const Loop*, bool> sleeps_by_the_clock;   ///< as far as it is known
  std::vector<const Loop*> waits;                    ///< judged so far
  std::set<std::size_t> searched;                    ///< loads by which loops that were judged so far search words
};

/// `loop`: one of `flow`, of which the loops inside it have been judged. The place of the back edge stays open.
LoopVerdict judge(FunctionFlow& flow, const Loop& loop);

}  // namespace wicprof::rewriter
