#include "protocol/ring_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "protocol/events/wait.h"

namespace wicprof {
namespace {

/// A ring in shared memory, as that of a session.
class SharedRing {
 public:
  SharedRing() : file_(memfd_create("ring", 0)) {
    if (ftruncate(file_, static_cast<off_t>(kBytes)) != 0) return;
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    ring_ = make_ring(memory_, kCapacity);
  }
  ~SharedRing() {
    munmap(memory_, kBytes);
    close(file_);
  }
  RingHeader* ring() const { return ring_; }

  /// The ring's pages that have memory.
  std::size_t pages() const {
    std::vector<unsigned char> resident(kBytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    if (mincore(memory_, kBytes, resident.data()) != 0) return 0;
    return static_cast<std::size_t>(std::count_if(resident.begin(), resident.end(), [](auto one) { return one & 1; }));
  }
  std::size_t all_pages() const { return ring_bytes(kCapacity) / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

 private:
  static constexpr std::size_t kCapacity = std::size_t{1} << 20, kBytes = std::size_t{2} << 20;
  int file_;
  void* memory_ = nullptr;
  RingHeader* ring_ = nullptr;
};

void write(RingWriter& writer, std::uint64_t bytes) {
  const auto event = make_event<WaitEvent>();
  for (std::uint64_t written = 0; written < bytes; written += sizeof event) writer.write(event);
}

TEST(RingPages, ABusyRingHasAllOfThem) {
  const SharedRing shared;
  RingWriter writer(shared.ring());
  RingPages pages(shared.ring());
  write(writer, RingPages::kBusy);
  EXPECT_LT(shared.pages(), shared.all_pages() / 2);
  pages.look();
  const std::size_t now = shared.pages();
  if (now < shared.all_pages() / 2) GTEST_SKIP() << "this system has no MADV_POPULATE_WRITE (Linux 5.14)";
  EXPECT_GE(now, shared.all_pages());
}

TEST(RingPages, ALittleUsedRingKeepsWhatItNeeds) {
  const SharedRing shared;
  RingWriter writer(shared.ring());
  RingPages pages(shared.ring());
  for (int i = 0; i < 4; ++i) {
    write(writer, RingPages::kBusy / 2);
    pages.look();
  }
  EXPECT_LT(shared.pages(), shared.all_pages() / 2);
}

TEST(RingPages, OfMemoryThatIsNotSharedAreNoTrouble) {
  std::vector<std::uint64_t> memory(ring_bytes(std::size_t{1} << 18) / 8 + 8);
  auto* const aligned = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
  RingHeader* const ring = make_ring(aligned, std::size_t{1} << 18);
  RingWriter writer(ring);
  RingPages pages(ring);
  write(writer, RingPages::kBusy);
  const std::uint64_t head = ring->head;
  pages.look();
  EXPECT_EQ(ring->head, head);
  EXPECT_EQ(ring->magic, RingHeader::kMagic);
}

}  // namespace
}  // namespace wicprof
