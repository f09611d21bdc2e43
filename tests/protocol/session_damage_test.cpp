// A program that overwrites the session's memory, or truncates the session's file, while the tool reads: the tool stays
// within its memory, and goes on.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "protocol/control_socket.h"
#include "protocol/events/wait.h"
#include "protocol/mapping_guard.h"
#include "protocol/session.h"
#include "tests/protocol/runtime_folder.h"

namespace wicprof {
namespace {

class SessionDamage : public testing::Test {
 protected:
  SessionOwner make() {
    SessionOptions options;
    options.name = "one";
    options.rings[0] = {3, 64 << 10};
    Result<SessionOwner> owner = SessionOwner::create(options);
    EXPECT_TRUE(owner) << owner.error().message;
    return *std::move(owner);
  }
  RuntimeFolder folder_;
};

TEST_F(SessionDamage, TheLayoutIsKeptOutsideTheSharedMemory) {
  const SessionOwner owner = make();
  const Result<SessionMap> program = SessionMap::attach(owner.path());
  ASSERT_TRUE(program) << program.error().message;
  const RingHeader* const ring = owner.map().ring(2);
  const ControlBlock* const control = &owner.map().control();
  SessionHeader& header = program->header();
  header.rings[0] = {1'000'000, std::uint64_t{1} << 60};
  header.control_offset = header.rings_offset = header.total_bytes = ~std::uint64_t{0};
  EXPECT_EQ(owner.map().ring_count(), 3u);
  EXPECT_EQ(owner.map().ring_capacity(0), std::size_t{64} << 10);
  EXPECT_EQ(owner.map().ring(2), ring);
  EXPECT_EQ(&owner.map().control(), control);
}  // unmapping visits every ring

TEST_F(SessionDamage, AClaimedRingHasItsCapacityAgain) {
  const SessionOwner owner = make();
  const Result<SessionMap> program = SessionMap::attach(owner.path());
  ASSERT_TRUE(program);
  owner.map().ring(0)->capacity = std::uint64_t{1} << 50;
  RingHeader* const ring = program->claim_ring();
  ASSERT_NE(ring, nullptr);
  RingWriter writer(ring);
  std::size_t written = 0;
  while (written < 100'000 && writer.write(make_event<WaitEvent>())) ++written;
  EXPECT_LE(written, (std::size_t{64} << 10) / sizeof(WaitEvent));
}

TEST_F(SessionDamage, AnImpossibleLayoutIsRefused) {
  const SessionOwner owner = make();
  SessionHeader& header = owner.map().header();
  const auto refused = [&](auto& field, auto value) {
    const auto before = field;
    field = value;
    const Result<SessionMap> program = SessionMap::attach(owner.path());
    field = before;
    return !program;
  };
  EXPECT_TRUE(refused(header.rings[0].count, 2u));
  EXPECT_TRUE(refused(header.rings[0].count, ~0u));
  EXPECT_TRUE(refused(header.rings[0].capacity, std::uint64_t{0}));
  EXPECT_TRUE(refused(header.rings[0].capacity, std::uint64_t{1} << 63));
  EXPECT_TRUE(refused(header.control_offset, ~std::uint64_t{0}));
  EXPECT_TRUE(refused(header.rings_offset, std::uint64_t{8}));
  EXPECT_TRUE(SessionMap::attach(owner.path()));
}

// Writes numbers at random into the headers and the records of all rings, until it is killed.
[[noreturn]] void overwrite(const std::string& path) {
  const Result<SessionMap> program = SessionMap::attach(path);
  if (!program) _exit(1);
  const std::size_t count = program->ring_count(), data_words = program->ring_capacity(0) / 8;
  std::mt19937_64 random(7);
  const auto record = [&] { return (random() % 40) | (random() % 80 * 8) << 16; };  // of some kind and length
  for (;;) {
    RingHeader* const ring = program->ring(random() % count);
    auto* const words = reinterpret_cast<volatile std::uint64_t*>(ring);
    const std::size_t data = kRingDataOffset / 8 + random() % data_words;
    switch (random() % 16) {
      case 0:
        words[random() % (kRingDataOffset / 8)] = random();
        break;
      case 1:
        words[data] = random();
        break;
      case 2:
      case 3:
        ring->head.store(ring->tail.load() + random() % (data_words / 2) * 8);  // new records
        break;
      default:
        words[data] = record();
    }
  }
}

TEST_F(SessionDamage, AProgramThatOverwritesEverythingIsReadWithinBounds) {
  const SessionOwner owner = make();
  const pid_t program = fork();
  if (program == 0) overwrite(owner.path());
  ASSERT_GT(program, 0);
  std::vector<RingReader> readers;
  for (std::size_t i = 0; i < 3; ++i) readers.emplace_back(owner.map().ring(i), owner.map().ring_capacity(0));
  std::uint64_t sum = 0, records = 0, corrupt = 0;
  const TimeNs patience = now_ns() + 60 * kSecond;
  while ((records < 50'000 || corrupt < 1000) && now_ns() < patience) {
    for (RingReader& reader : readers) {
      const std::uint64_t before = reader.corrupt();
      records += reader.read([&](const EventHeader& header) {
        ASSERT_LE(header.size, kMaxEventSize);
        const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
        for (std::size_t i = 0; i < header.size; ++i) sum += bytes[i];
        if (const auto* text = event_cast<TextEvent>(header)) {
          for (const char c : text_of(*text)) sum += static_cast<unsigned char>(c);
        }
      });
      corrupt += reader.corrupt() - before;
    }
  }
  kill(program, SIGKILL);
  int status = 0;
  waitpid(program, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the program attached and wrote";
  EXPECT_GE(records, 50'000u);
  EXPECT_GE(corrupt, 1000u);
  EXPECT_GT(sum, 0u);
}

TEST_F(SessionDamage, ATruncatedFileChangesNothing) {
  const SessionOwner owner = make();
  ASSERT_GE(owner.memory(), 0);
  const Result<SessionMap> program = SessionMap::attach(owner.path());
  ASSERT_TRUE(program);
  EXPECT_FALSE(owner.is_file_cut());
  ASSERT_EQ(truncate(owner.path().c_str(), 0), 0);
  EXPECT_TRUE(owner.is_file_cut());
  for (const SessionMap* map : {&owner.map(), &*program}) {
    map->header().reclaims_rings.store(map == &*program);
    EXPECT_EQ(map->control().sequence.load(), 0u);
  }
  EXPECT_EQ(owner.map().header().reclaims_rings.load(), 1u);
  EXPECT_FALSE(is_mapping_lost(&owner.map().header()));
}

TEST_F(SessionDamage, TheMemoryCannotBeCut) {
  const SessionOwner owner = make();
  struct stat info {};
  ASSERT_EQ(fstat(owner.memory(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  for (const off_t size : {off_t{0}, info.st_size - 4096, info.st_size + 4096}) {
    EXPECT_NE(ftruncate(owner.memory(), size), 0);
    EXPECT_EQ(errno, EPERM);
  }
}

TEST_F(SessionDamage, WhoCannotOpenTheMemoryAsksForIt) {
  const SessionOwner owner = make();
  const Result<ControlServer> server = ControlServer::start(
      owner.socket_path(), [](const std::string& line) { return line; }, owner.memory());
  ASSERT_TRUE(server);
  ASSERT_EQ(truncate(owner.path().c_str(), 0), 0);  // the file no longer says where the memory is
  const Result<SessionMap> program = SessionMap::attach(owner.path());
  ASSERT_TRUE(program) << program.error().message;
  program->header().reclaims_rings.store(7);
  EXPECT_EQ(owner.map().header().reclaims_rings.load(), 7u);
  EXPECT_EQ(*ask(owner.socket_path(), "any line", kSecond), "any line");
}

TEST_F(SessionDamage, AMappingWhoseFileIsTruncatedIsSurvived) {
  const std::string path = folder_.path() + "/mapped";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(ftruncate(file, 8192), 0);
  void* const memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::atomic<unsigned> losses{0};
  guard_mapping(memory, 8192, &losses);
  ASSERT_EQ(ftruncate(file, 0), 0);
  auto* const words = static_cast<volatile int*>(memory);
  EXPECT_EQ(words[1024], 0);
  EXPECT_TRUE(is_mapping_lost(memory));
  EXPECT_EQ(losses.load(), 1u);
  words[0] = 1;  // it can still be written
  release_mapping(memory);
  munmap(memory, 8192);
  close(file);
}

// The presets of the sanitizers set handle_sigbus=0: their own handler would end the process with an exit status.
TEST_F(SessionDamage, OtherBusErrorsEndTheProcessAsBefore) {
  const SessionOwner owner = make();
  EXPECT_EXIT(raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace wicprof
