#include "collector/rewrite/word_writers.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "protocol/time.h"

namespace wicprof::collector {

namespace {

WriteCall copy(std::uint64_t to, std::uint64_t bytes, const void* source = nullptr) {
  WriteCall write;
  write.writer = source != nullptr ? SignalWriter::copy : SignalWriter::unknown_copy;
  write.begin = to;
  write.bytes = bytes;
  write.source = source;
  return write;
}
WriteCall fill(SignalWriter writer, std::uint64_t to, std::uint64_t count, std::uint64_t pattern, unsigned bytes) {
  WriteCall write;
  write.writer = writer;
  write.begin = to;
  write.bytes = count * bytes;
  write.pattern = pattern;
  write.pattern_bytes = bytes;
  return write;
}

std::vector<WriteCall> batch(const CUstreamBatchMemOpParams* operations, unsigned count) {
  std::vector<WriteCall> writes;
  for (unsigned i = 0; operations != nullptr && i < count; ++i) {
    const CUstreamBatchMemOpParams& each = operations[i];
    if (each.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
      writes.push_back(
          fill(SignalWriter::stream_write, each.writeValue.address, 1, each.writeValue.value, sizeof(cuuint32_t)));
    } else if (each.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
      writes.push_back(
          fill(SignalWriter::stream_write, each.writeValue.address, 1, each.writeValue.value64, sizeof(cuuint64_t)));
    }
  }
  return writes;
}

/// Whether the word lies within what the call writes.
bool holds(const WriteCall& write, const PolledWord& word) {
  const std::uint64_t bytes = word.is_64_bit ? 8 : 4;
  return word.address >= write.begin && write.bytes >= bytes && word.address - write.begin <= write.bytes - bytes;
}

/// The low 32 bits that a fill leaves at the address.
std::uint32_t filled_value(const WriteCall& write, std::uint64_t address) {
  std::uint8_t pattern[8];
  std::memcpy(pattern, &write.pattern, sizeof pattern);
  std::uint32_t value = 0;
  for (unsigned i = 0; i < sizeof value; ++i) {
    value |= std::uint32_t{pattern[(address - write.begin + i) % write.pattern_bytes]} << (8 * i);
  }
  return value;
}

/// From the parameters of any call of the table: their members tell what it does.
template <class Params>
std::vector<WriteCall> read_writes(const Params& p) {
  if constexpr (requires { p.paramArray; }) {
    return batch(p.paramArray, p.count);
  } else if constexpr (requires { p.addr; }) {
    return {fill(SignalWriter::stream_write, p.addr, 1, p.value, sizeof p.value)};
  } else if constexpr (requires { p.uc; }) {
    return {fill(SignalWriter::memset, p.dstDevice, p.N, p.uc, 1)};
  } else if constexpr (requires { p.us; }) {
    return {fill(SignalWriter::memset, p.dstDevice, p.N, p.us, 2)};
  } else if constexpr (requires { p.ui; }) {
    return {fill(SignalWriter::memset, p.dstDevice, p.N, p.ui, 4)};
  } else if constexpr (requires { p.srcHost; }) {
    return {copy(p.dstDevice, p.ByteCount, p.srcHost)};
  } else if constexpr (requires { p.dstHost; }) {
    return {copy(reinterpret_cast<std::uint64_t>(p.dstHost), p.ByteCount)};
  } else if constexpr (requires { p.dstDevice; }) {
    return {copy(p.dstDevice, p.ByteCount)};
  } else {
    return {copy(p.dst, p.ByteCount)};
  }
}

template <class Params>
std::vector<WriteCall> read_call(const void* params) {
  const auto& p = *static_cast<const Params*>(params);
  std::vector<WriteCall> writes = read_writes(p);
  for (WriteCall& write : writes) {
    if constexpr (requires { p.hStream; }) write.stream = p.hStream;
    if constexpr (requires { p.stream; }) write.stream = p.stream;
  }
  return writes;
}

struct WritingCall {
  CUpti_CallbackId id;
  std::vector<WriteCall> (*read)(const void* params);
};
constexpr WritingCall kWritingCalls[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy, read_call<cuMemcpy_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds, read_call<cuMemcpy_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, read_call<cuMemcpyAsync_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, read_call<cuMemcpyAsync_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer, read_call<cuMemcpyPeer_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer_ptds, read_call<cuMemcpyPeer_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, read_call<cuMemcpyPeerAsync_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz, read_call<cuMemcpyPeerAsync_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, read_call<cuMemcpyHtoD_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, read_call<cuMemcpyHtoD_v2_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, read_call<cuMemcpyHtoDAsync_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, read_call<cuMemcpyHtoDAsync_v2_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, read_call<cuMemcpyDtoD_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds, read_call<cuMemcpyDtoD_v2_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, read_call<cuMemcpyDtoDAsync_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz, read_call<cuMemcpyDtoDAsync_v2_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, read_call<cuMemcpyDtoH_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, read_call<cuMemcpyDtoH_v2_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, read_call<cuMemcpyDtoHAsync_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, read_call<cuMemcpyDtoHAsync_v2_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, read_call<cuMemsetD8_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds, read_call<cuMemsetD8_v2_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, read_call<cuMemsetD8Async_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, read_call<cuMemsetD8Async_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2, read_call<cuMemsetD16_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2_ptds, read_call<cuMemsetD16_v2_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async, read_call<cuMemsetD16Async_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async_ptsz, read_call<cuMemsetD16Async_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2, read_call<cuMemsetD32_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds, read_call<cuMemsetD32_v2_ptds_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, read_call<cuMemsetD32Async_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz, read_call<cuMemsetD32Async_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32, read_call<cuStreamWriteValue32_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_ptsz, read_call<cuStreamWriteValue32_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2, read_call<cuStreamWriteValue32_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2_ptsz, read_call<cuStreamWriteValue32_v2_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue64, read_call<cuStreamWriteValue64_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue64_ptsz, read_call<cuStreamWriteValue64_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue64_v2, read_call<cuStreamWriteValue64_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue64_v2_ptsz, read_call<cuStreamWriteValue64_v2_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp, read_call<cuStreamBatchMemOp_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_ptsz, read_call<cuStreamBatchMemOp_ptsz_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2, read_call<cuStreamBatchMemOp_v2_params>},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2_ptsz, read_call<cuStreamBatchMemOp_v2_ptsz_params>},
};

}  // namespace

std::vector<WriteCall> writes_of(CUpti_CallbackId id, const void* params) {
  const auto* const call =
      std::find_if(std::begin(kWritingCalls), std::end(kWritingCalls), [&](const auto& each) { return each.id == id; });
  if (call == std::end(kWritingCalls) || params == nullptr) return {};
  return call->read(params);
}

bool is_writing_call(CUpti_CallbackId id) {
  return std::any_of(std::begin(kWritingCalls), std::end(kWritingCalls),
                     [&](const auto& each) { return each.id == id; });
}

const std::vector<CUpti_CallbackId>& writing_calls() {
  static const std::vector<CUpti_CallbackId> calls = [] {
    std::vector<CUpti_CallbackId> ids;
    for (const WritingCall& each : kWritingCalls) ids.push_back(each.id);
    return ids;
  }();
  return calls;
}

bool read_own_memory(std::uint64_t address, void* to, std::size_t bytes) {
  const iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

WordWriters& WordWriters::of_process() {
  static auto* const all = new WordWriters;  // threads of the program may outlive static objects
  return *all;
}

void WordWriters::made(std::uint32_t correlation, TimeNs called, const std::vector<WriteCall>& writes) {
  if (!on_.load(std::memory_order_relaxed) || writes.empty()) return;
  thread_local const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  const std::lock_guard lock(mutex_);
  for (const WriteCall& write : writes) {
    Call call;
    call.correlation = correlation;
    call.thread = thread;
    call.called = called;
    call.write = write;
    if (write.source != nullptr && write.bytes <= kKeptBytes) {
      call.has_content =
          read_own_memory(reinterpret_cast<std::uint64_t>(write.source), call.content.data(), write.bytes);
    }
    for (auto at = words_.lower_bound(write.begin); at != words_.end() && at->first - write.begin < write.bytes; ++at) {
      if (holds(write, at->second)) add(call, at->second, true);
    }
    calls_.emplace(correlation, call);
    if (calls_.size() > kMostCalls) calls_.erase(calls_.begin());  // numbers of calls grow
  }
}

void WordWriters::add(const Call& call, const PolledWord& word, bool source_is_valid) {
  Pending pending{word, call.write.writer, 0, call.correlation, call.thread, call.called, call.start};
  if (call.write.pattern_bytes != 0) {
    pending.value = filled_value(call.write, word.address);
  } else if (call.has_content) {
    std::memcpy(&pending.value, call.content.data() + (word.address - call.write.begin), sizeof pending.value);
  } else if (call.write.source != nullptr) {
    const std::uint64_t from = reinterpret_cast<std::uint64_t>(call.write.source) + (word.address - call.write.begin);
    if (!source_is_valid || !read_own_memory(from, &pending.value, sizeof pending.value)) {
      pending.writer = SignalWriter::unknown_copy;
    }
  }
  pending_.push_back(pending);
}

void WordWriters::set_start(std::uint32_t correlation, TimeNs start) {
  const std::lock_guard lock(mutex_);
  for (auto [at, end] = calls_.equal_range(correlation); at != end; ++at) at->second.start = start;
  for (Pending& each : pending_) {
    if (each.correlation == correlation) each.start = start;
  }
}

void WordWriters::polled(const PolledWord& word) {
  const std::lock_guard lock(mutex_);
  words_.emplace(word.address, word);
  // What the sources of earlier copies hold now may be another value.
  const TimeNs since = now_ns() - kLookBack;
  const Call* last = nullptr;
  for (const auto& [correlation, call] : calls_) {
    if (!holds(call.write, word)) continue;
    if (call.called >= since) add(call, word, false);
    if (last == nullptr || call.called >= last->called) last = &call;
  }
  if (last != nullptr && last->called < since) add(*last, word, false);
}

void WordWriters::write_signals(EventBatch& batch, TimeNs now, TimeNs patience) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pending_, [&](const Pending& each) {
    const bool no_time = each.writer == SignalWriter::stream_write;
    if (each.start == 0 && !no_time && patience > 0 && now - each.called < patience) return false;
    auto event = make_event<SignalEvent>();
    event.site = each.word.site;
    event.device = kHostDevice;
    event.block = each.thread;
    event.value = each.writer == SignalWriter::unknown_copy ? 0 : each.value;
    event.at_ns = static_cast<std::uint64_t>(each.start != 0 ? each.start : each.called);
    event.word_tag = each.word.tag;
    event.writer = each.writer;
    event.correlation = each.correlation;
    batch.write(event);
    return true;
  });
}

}  // namespace wicprof::collector
