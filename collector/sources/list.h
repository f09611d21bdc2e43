// All sources, and the selection by the words in WICPROF_TRACE.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collector/rewrite/rewrite_driver.h"
#include "collector/sources/source.h"
#include "collector/waits/waits_of_process.h"
#include "protocol/control.h"
#include "protocol/open_work.h"

namespace wicprof::collector {

struct Selection {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::string> unknown;  ///< words that name no source
};

/// `words`: names of sources, "none", "cuda" for all sources that the list marks as part of it, or "nodes" for the
/// kernels and copies of CUDA graphs, whose launches are recorded as a whole otherwise.
/// `waits`: outlives the sources. `control` and `work`: the session's; nullptr: none. `late`: the program has used CUDA
/// before: no source of graphs, since a program that has one dies within CUPTI once launches are recorded as a whole.
Selection select_sources(const std::vector<std::string>& words, WaitsOfProcess& waits, ControlBlock* control = nullptr,
                         OpenWork* work = nullptr, bool late = false);

/// All words, comma-separated, for messages.
std::string known_words();

std::unique_ptr<Source> make_devices();
std::unique_ptr<Source> make_kernels(OpenKernels& open);
std::unique_ptr<Source> make_copies();
std::unique_ptr<Source> make_calls(const OwnCalls& own_calls);
std::unique_ptr<Source> make_host_waits(WaitsOfProcess& waits, ControlBlock* control = nullptr,
                                        OpenWork* work = nullptr);
std::unique_ptr<Source> make_launches(OpenKernels& open, OpenWork* work = nullptr);
std::unique_ptr<Source> make_syncs();
std::unique_ptr<Source> make_events();
std::unique_ptr<Source> make_overhead();
std::unique_ptr<Source> make_nvtx();
std::unique_ptr<Source> make_uvm();
/// `wanted`: false: records nothing, and makes launches of graphs cost less.
std::unique_ptr<Source> make_graphs(bool wanted = true);
std::unique_ptr<Source> make_pc_sampling();
/// `driver`: of a test; nullptr: that of the process.
std::unique_ptr<Source> make_rewrite(OwnCalls& own_calls, ControlBlock* control = nullptr, OpenWork* work = nullptr,
                                     const RewriteDriver* driver = nullptr);

}  // namespace wicprof::collector
