// The entries of a session's table of open work, as a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "protocol/open_work.h"
#include "protocol/process.h"

namespace wicprof::cli {

/// `of_ended`: also those of processes that have ended.
template <class Value, std::size_t kCount>
std::vector<analyzer::OfProcess<Value>> entries(const OpenEntry<Value> (&table)[kCount], bool of_ended = false) {
  std::vector<analyzer::OfProcess<Value>> all;
  for (const OpenEntry<Value>& entry : table) {
    const std::uint32_t pid = entry.pid();
    if (pid == 0 || (!of_ended && process_is_gone(pid))) continue;
    std::optional<Value> value = entry.read();
    if (!value) continue;
    // The program can write here by mistake: texts end within their arrays.
    if constexpr (requires { value->name; }) value->name[sizeof value->name - 1] = '\0';
    if constexpr (requires { value->site; }) value->site[sizeof value->site - 1] = '\0';
    all.push_back({pid, *value});
  }
  return all;
}

}  // namespace wicprof::cli
