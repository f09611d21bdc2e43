#include "field/storage/file_ring.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace sample::storage {
namespace {

using wic::Result;

wic::Error system_error(const std::string& what) { return wic::unavailable(what + ": " + std::strerror(errno)); }

/// A part of the rings, which the kernel shares.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  ~Mapping() {
    if (at_ != nullptr) munmap(at_, bytes_);
  }
  bool map(int ring, std::size_t bytes, off_t which) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, which);
    if (at == MAP_FAILED) return false;
    at_ = at;
    bytes_ = bytes;
    return true;
  }
  template <class T>
  T* as(std::size_t offset = 0) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(at_) + offset);
  }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

class OpenFileRing final : public FileRing {
 public:
  ~OpenFileRing() override {
    if (ring_ >= 0) close(ring_);
    if (file_ >= 0) close(file_);
  }

  Result<> write_file(const std::string& folder, std::uint64_t words,
                      const std::function<std::uint32_t(std::uint64_t)>& word_of) {
    std::string name = folder + "/field_storage.XXXXXX";
    file_ = mkostemp(name.data(), O_CLOEXEC);
    if (file_ < 0) return system_error("cannot make a file in " + folder);
    unlink(name.c_str());
    std::vector<std::uint32_t> part(std::size_t{1} << 16);
    for (std::uint64_t done = 0; done < words; done += part.size()) {
      part.resize(std::min<std::uint64_t>(part.size(), words - done));
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = word_of(done + i);
      const auto bytes = static_cast<ssize_t>(part.size() * sizeof(std::uint32_t));
      if (write(file_, part.data(), static_cast<std::size_t>(bytes)) != bytes) {
        return system_error("cannot fill the file in " + folder);
      }
    }
    return wic::ok();
  }

  Result<> open_ring(std::uint32_t entries) {
    io_uring_params params{};
    ring_ = static_cast<int>(syscall(SYS_io_uring_setup, entries, &params));
    if (ring_ < 0) return system_error("io_uring is not available");
    const std::size_t cq_bytes = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
    if (!submissions_.map(ring_, params.sq_off.array + params.sq_entries * sizeof(std::uint32_t), IORING_OFF_SQ_RING) ||
        !completions_.map(ring_, cq_bytes, IORING_OFF_CQ_RING) ||
        !entries_.map(ring_, params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES)) {
      return system_error("the rings of io_uring cannot be mapped");
    }
    sq_tail_ = submissions_.as<std::uint32_t>(params.sq_off.tail);
    sq_array_ = submissions_.as<std::uint32_t>(params.sq_off.array);
    sq_mask_ = params.sq_entries - 1;
    cq_head_ = completions_.as<std::uint32_t>(params.cq_off.head);
    cq_tail_ = completions_.as<std::uint32_t>(params.cq_off.tail);
    cqes_ = completions_.as<io_uring_cqe>(params.cq_off.cqes);
    cq_mask_ = params.cq_entries - 1;
    return wic::ok();
  }

  void read(void* to, std::uint32_t bytes, std::uint64_t offset, std::uint32_t tag) override {
    const std::uint32_t place = *sq_tail_ & sq_mask_;  // only this thread moves the tail
    io_uring_sqe& entry = entries_.as<io_uring_sqe>()[place];
    entry = {};
    entry.opcode = IORING_OP_READ;
    entry.fd = file_;
    entry.addr = reinterpret_cast<std::uint64_t>(to);
    entry.len = bytes;
    entry.off = offset;
    entry.user_data = std::uint64_t{bytes} << 32 | tag;
    sq_array_[place] = place;
    std::atomic_ref(*sq_tail_).store(*sq_tail_ + 1, std::memory_order_release);
    ++queued_;
  }

  Result<> start() override {
    while (queued_ > 0) {
      const long taken = syscall(SYS_io_uring_enter, ring_, queued_, 0, 0, nullptr, 0);
      if (taken < 0 && errno != EINTR && errno != EAGAIN) return system_error("io_uring refuses reads");
      if (taken > 0) queued_ -= static_cast<std::uint32_t>(taken);
    }
    return wic::ok();
  }

  Result<bool> ended(std::uint32_t& tag) override {
    const std::uint32_t head = *cq_head_;
    if (head == std::atomic_ref(*cq_tail_).load(std::memory_order_acquire)) return false;
    const io_uring_cqe entry = cqes_[head & cq_mask_];
    std::atomic_ref(*cq_head_).store(head + 1, std::memory_order_release);
    tag = static_cast<std::uint32_t>(entry.user_data);
    if (entry.res == static_cast<std::int32_t>(entry.user_data >> 32)) return true;
    return wic::failed("a read of the file ended with " + std::to_string(entry.res));
  }

 private:
  int file_ = -1, ring_ = -1;
  Mapping submissions_, completions_, entries_;
  std::uint32_t *sq_tail_ = nullptr, *sq_array_ = nullptr, *cq_head_ = nullptr, *cq_tail_ = nullptr;
  io_uring_cqe* cqes_ = nullptr;
  std::uint32_t sq_mask_ = 0, cq_mask_ = 0, queued_ = 0;
};

}  // namespace

Result<std::unique_ptr<FileRing>> FileRing::make(const std::string& folder, std::uint64_t words,
                                                 const std::function<std::uint32_t(std::uint64_t)>& word_of,
                                                 std::uint32_t entries) {
  auto ring = std::make_unique<OpenFileRing>();
  if (auto r = ring->write_file(folder, words, word_of); !r) return r.error();
  if (auto r = ring->open_ring(entries); !r) return r.error();
  return Result<std::unique_ptr<FileRing>>(std::move(ring));
}

}  // namespace sample::storage
