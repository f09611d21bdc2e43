// The file of a session with hostile numbers in its header, and the control block with anything in it.
#include "protocol/session.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {
namespace {

constexpr std::size_t kMaxBytes = 2 << 20;

// A file in memory that keeps its pages from input to input.
struct File {
  int fd = memfd_create("session", MFD_CLOEXEC);
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  std::byte* memory = nullptr;
  File() {
    require(ftruncate(fd, kMaxBytes) == 0, "there is memory for the session");
    memory = static_cast<std::byte*>(mmap(nullptr, kMaxBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    require(memory != MAP_FAILED, "there is memory for the session");
  }
};

}  // namespace

void run(std::string_view text) {
  static File file;
  Bytes input(text);
  // A right header of some size, and then wrong numbers in it.
  const std::size_t rings = input.take<std::uint8_t>() & 7;
  const std::size_t capacity = std::size_t{8192} << (input.take<std::uint8_t>() & 3);
  const std::size_t control = (sizeof(SessionHeader) + 4095) / 4096 * 4096;
  const std::size_t open_work = (control + sizeof(ControlBlock) + 4095) / 4096 * 4096;
  const std::size_t first_ring = (open_work + sizeof(OpenWork) + 4095) / 4096 * 4096;
  std::size_t total = first_ring + rings * ring_bytes(capacity);
  if (ftruncate(file.fd, 0) != 0 || ftruncate(file.fd, kMaxBytes) != 0) std::abort();  // all bytes are zero again
  auto* header = reinterpret_cast<SessionHeader*>(file.memory);
  header->version = kSessionVersion;
  header->rings[0] = {rings, capacity};
  header->control_offset = control;
  header->open_work_offset = open_work;
  header->rings_offset = first_ring;
  header->total_bytes = total;
  header->magic = SessionHeader::kMagic;
  for (int count = input.take<std::uint8_t>() & 3; count > 0; --count) {
    const std::size_t at = input.take<std::uint8_t>() % (offsetof(SessionHeader, name) / 8) * 8;
    const std::uint64_t number = input.number();
    std::memcpy(file.memory + at, &number, sizeof number);
  }
  if ((input.take<std::uint8_t>() & 15) == 1) total = header->total_bytes = input.number() % kMaxBytes;
  input.fill(file.memory + control + input.take<std::uint16_t>() % sizeof(ControlBlock), sizeof(SiteControl) * 2);
  if (ftruncate(file.fd, static_cast<off_t>(total % kMaxBytes)) != 0) std::abort();
  const Result<SessionMap> map = SessionMap::attach(file.path);
  if (map) {
    const auto* begin = reinterpret_cast<const std::byte*>(&map->header());
    const std::byte* const end = begin + total % kMaxBytes;
    require(reinterpret_cast<const std::byte*>(&map->control() + 1) <= end, "the control block is inside the file");
    for (std::size_t i = 0; i < map->ring_count(); ++i) {
      RingHeader* const ring = map->ring(i);
      require(reinterpret_cast<const std::byte*>(ring) >= begin && ring->data + map->ring_capacity(i) <= end,
              "each ring is inside the file");
      RingReader(ring, map->ring_capacity(i)).read([](const EventHeader&) {});
    }
    const ControlBlock& block = map->control();
    (void)find_site(block, "left");
    (void)find_site(block, "");
    (void)program_wait(block);
    (void)attached_processes(block);
    (void)last_effective(block);
    (void)wait_applied(block, 1, 0);
  }
}

std::vector<std::string> seeds() {
  return {std::string("\3\0\0\0\0\0", 6), std::string("\1\1\1\3\5\0\0\0left\0", 13),
          std::string("\2\0\2\4\1\6\2\1", 8)};
}

}  // namespace wicprof::fuzz
