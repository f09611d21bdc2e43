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

/// `words`: cuda (all but nvtx), nvtx, none, or single sources by name.
Selection select_sources(const std::vector<std::string>& words);

std::unique_ptr<Source> make_devices();
std::unique_ptr<Source> make_kernels();
std::unique_ptr<Source> make_copies();
std::unique_ptr<Source> make_calls();
std::unique_ptr<Source> make_host_waits();
std::unique_ptr<Source> make_nvtx();

}  // namespace wicprof::collector
