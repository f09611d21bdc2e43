// Programs that communicate as well-known algorithms do: pipelines of frames, halo exchanges with corners, all-reduce
// on a ring and on a tree, parameter servers, requests and replies, work queues, broadcasts, transpositions. The class
// of each is fixed here by the definitions of the WIC paper, with the decisions of docs/classification.md, and not by
// the analyzer's rules. What is technical (words, sites, threads, acknowledgements, numbers, losses) is drawn, as for
// the other made programs.
//
// Every second algorithm of the list serves to improve the analyzer; the others only judge it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tests/analyzer/made_programs/made_program.h"

namespace wicprof::analyzer::made {

/// In the order of the halves: those at even places serve to improve.
inline constexpr std::array<std::string_view, 20> kAlgorithms{"video pipeline in stripes",
                                                              "filter of stripes",
                                                              "halo with corners",
                                                              "halo of several fields",
                                                              "ring all-reduce",
                                                              "ring all-gather, numbered by step",
                                                              "parameter server",
                                                              "asynchronous parameter server",
                                                              "requests in batches",
                                                              "requests in varying batches",
                                                              "work queue",
                                                              "tiles in rounds",
                                                              "broadcast in chunks",
                                                              "tree all-reduce",
                                                              "transposition",
                                                              "rows out, sums back",
                                                              "graph frontiers",
                                                              "sparse vector",
                                                              "wavefront",
                                                              "particles"};

struct KnownProgram {
  std::size_t algorithm = 0;  ///< index into kAlgorithms
  Half half = Half::improve;
  MadeProgram program;
};

/// The algorithms in turn: seed modulo their number.
KnownProgram make_known_program(std::uint64_t seed);

}  // namespace wicprof::analyzer::made
