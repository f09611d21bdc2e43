// All sources, and the selection by the words in WICPROF_TRACE.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collector/rewrite/rewrite_driver.h"
#include "collector/sources/source.h"
#include "protocol/control.h"
#include "protocol/open_work.h"

namespace wicprof::collector {

struct Selection {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::string> unknown;  ///< words that name no source
};

/// `words`: names of sources, "none", "cuda" for all sources that the list marks as part of it, or "nodes" for the
/// kernels and copies of CUDA graphs, whose launches are recorded as a whole otherwise.
/// `control` and `work`: the session's; nullptr: none.
Selection select_sources(const std::vector<std::string>& words, ControlBlock* control = nullptr,
                         OpenWork* work = nullptr);

/// All words, comma-separated, for messages.
std::string known_words();

std::unique_ptr<Source> make_devices();
std::unique_ptr<Source> make_kernels();
std::unique_ptr<Source> make_copies();
std::unique_ptr<Source> make_calls();
std::unique_ptr<Source> make_host_waits(ControlBlock* control = nullptr, OpenWork* work = nullptr);
std::unique_ptr<Source> make_launches(OpenWork* work = nullptr);
std::unique_ptr<Source> make_syncs();
std::unique_ptr<Source> make_events();
std::unique_ptr<Source> make_overhead();
std::unique_ptr<Source> make_nvtx();
std::unique_ptr<Source> make_uvm();
std::unique_ptr<Source> make_graphs();
std::unique_ptr<Source> make_pc_sampling();
std::unique_ptr<Source> make_rewrite(ControlBlock* control = nullptr, OpenWork* work = nullptr);
/// With a driver of a test.
std::unique_ptr<Source> make_rewrite(ControlBlock* control, const RewriteDriver& driver, OpenWork* work = nullptr);

}  // namespace wicprof::collector
