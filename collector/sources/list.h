// All sources, and which of them a WICPROF_TRACE asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collector/sources/source.h"

namespace wicprof::collector {

struct Selection {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::string> unknown;  ///< words that name no source
};

/// `words`: cuda, none, or single sources by name; "cuda" stands for those that the list marks so.
Selection select_sources(const std::vector<std::string>& words);

/// All words, for messages.
std::string known_words();

std::unique_ptr<Source> make_devices();
std::unique_ptr<Source> make_kernels();
std::unique_ptr<Source> make_copies();
std::unique_ptr<Source> make_calls();
std::unique_ptr<Source> make_host_waits();
std::unique_ptr<Source> make_syncs();
std::unique_ptr<Source> make_events();
std::unique_ptr<Source> make_overhead();
std::unique_ptr<Source> make_nvtx();
std::unique_ptr<Source> make_uvm();
std::unique_ptr<Source> make_graphs();
std::unique_ptr<Source> make_pc_sampling();

}  // namespace wicprof::collector
