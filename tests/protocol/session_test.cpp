// Sessions: creating, attaching, listing, and removing, also after a tool that died.
#include "protocol/session.h"

#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/protocol/runtime_folder.h"

namespace wicprof {
namespace {

class SessionTest : public testing::Test {
 protected:
  SessionOptions options(const std::string& name) const {
    SessionOptions o;
    o.name = name;
    o.app = "hot_flag";
    o.rings[0] = {3, 64 << 10};
    return o;
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.sessions()))
      names.insert(entry.path().filename());
    return names;
  }
  RuntimeFolder folder_;
};

TEST_F(SessionTest, AttachSeesTheSession) {
  const Result<SessionOwner> owner = SessionOwner::create(options("one"));
  ASSERT_TRUE(owner) << owner.error().message;
  const Result<SessionMap> map = SessionMap::attach(owner->path());
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_STREQ(map->header().name, "one");
  EXPECT_STREQ(map->header().app, "hot_flag");
  EXPECT_EQ(map->header().tool_pid, getpid());
  EXPECT_EQ(map->header().rings[0].count, 3u);
  // One memory, mapped twice.
  owner->map().control().requested_ns.store(77);
  EXPECT_EQ(map->control().requested_ns.load(), 77);
  EXPECT_NE(&map->control(), &owner->map().control());
}

TEST_F(SessionTest, FilesAreOwnerOnlyAndRemovedWithTheSession) {
  {
    const Result<SessionOwner> owner = SessionOwner::create(options("mine"));
    ASSERT_TRUE(owner);
    struct stat info {};
    ASSERT_EQ(stat(owner->path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    ASSERT_EQ(stat(folder_.sessions().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::ofstream(owner->socket_path()) << "as if a socket";
  }
  EXPECT_EQ(files(), std::set<std::string>{});
}

// Another session may take the name at once, and then has a socket and a folder of that name, too.
TEST_F(SessionTest, ItsNameIsTheLastThatItGivesUp) {
  std::optional<SessionOwner> owner(*SessionOwner::create(options("mine")));
  std::ofstream(owner->socket_path()) << "";
  std::filesystem::create_directory(modules_folder_of(owner->path()));
  const int deletions = inotify_init1(IN_NONBLOCK);
  ASSERT_GE(inotify_add_watch(deletions, folder_.sessions().c_str(), IN_DELETE), 0);
  owner.reset();
  alignas(inotify_event) char events[4096];
  const ssize_t bytes = read(deletions, events, sizeof events);
  close(deletions);
  std::vector<std::string> names;
  for (ssize_t at = 0; at < bytes;) {
    const auto* const event = reinterpret_cast<const inotify_event*>(events + at);
    names.emplace_back(event->name);
    at += static_cast<ssize_t>(sizeof *event + event->len);
  }
  EXPECT_EQ(names.size(), 3u);
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back(), "mine.session");
}

TEST_F(SessionTest, EachProducerClaimsItsOwnRing) {
  const Result<SessionOwner> owner = SessionOwner::create(options("rings"));
  ASSERT_TRUE(owner);
  const Result<SessionMap> map = SessionMap::attach(owner->path());
  ASSERT_TRUE(map);
  std::set<RingHeader*> rings;
  for (int i = 0; i < 3; ++i) {
    RingHeader* ring = map->claim_ring();
    ASSERT_NE(ring, nullptr);
    EXPECT_EQ(ring->owner.load(), static_cast<std::uint32_t>(getpid()));
    EXPECT_EQ(ring->magic, RingHeader::kMagic);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ring) % 64, 0u);
    rings.insert(ring);
  }
  EXPECT_EQ(rings.size(), 3u);
  EXPECT_EQ(map->claim_ring(), nullptr);
  EXPECT_EQ(owner->map().claim_ring(), nullptr);
}

TEST_F(SessionTest, LargerRingsAreClaimedFirst) {
  SessionOptions o = options("classes");
  o.rings = {RingClass{1, 64 << 10}, RingClass{2, 16 << 10}, RingClass{}, RingClass{1, 8 << 10}};
  const Result<SessionOwner> owner = SessionOwner::create(o);
  ASSERT_TRUE(owner) << owner.error().message;
  const Result<SessionMap> map = SessionMap::attach(owner->path());
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_EQ(map->ring_count(), 4u);
  const std::size_t capacities[] = {64 << 10, 16 << 10, 16 << 10, 8 << 10};
  std::byte* end = nullptr;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(owner->map().rings_used(), i);
    EXPECT_EQ(map->ring_capacity(i), capacities[i]);
    RingHeader* const ring = map->claim_ring();
    ASSERT_EQ(ring, map->ring(i));
    EXPECT_EQ(ring->capacity, capacities[i]);
    EXPECT_GE(reinterpret_cast<std::byte*>(ring), end);
    end = ring->data + ring->capacity;
  }
  EXPECT_EQ(end - reinterpret_cast<std::byte*>(&map->header()), static_cast<std::ptrdiff_t>(map->header().total_bytes));
  EXPECT_EQ(map->claim_ring(), nullptr);
}

TEST(RingClassesTest, MemoryIsDividedAmong256ProcessesOfTwoProducers) {
  for (const std::size_t mib : {1, 2, 8, 32, 64, 127, 128, 1024}) {
    const std::size_t bytes = mib << 20;
    std::size_t count = 0, total = 0, last = SIZE_MAX;
    for (const RingClass& rings : divide_among_rings(bytes)) {
      EXPECT_TRUE(rings.count == 0 || rings.capacity <= last) << mib;
      last = rings.capacity;
      count += rings.count;
      total += rings.count * rings.capacity;
    }
    EXPECT_LE(total, bytes) << mib;
    EXPECT_GE(total, bytes / 4) << mib;
    EXPECT_GE(count, mib >= 32 ? 512u : 56u) << mib;
  }
  EXPECT_EQ(divide_among_rings(std::size_t{128} << 20)[0], (RingClass{8, std::size_t{8} << 20}));
  EXPECT_EQ(divide_among_rings(0)[0], (RingClass{1, 2 * kMaxEventSize}));
}

TEST_F(SessionTest, EventsCrossMappings) {
  const Result<SessionOwner> owner = SessionOwner::create(options("cross"));
  ASSERT_TRUE(owner);
  const Result<SessionMap> map = SessionMap::attach(owner->path());
  ASSERT_TRUE(map);
  RingWriter writer(map->claim_ring());
  ASSERT_TRUE(writer.write_text(1, "hello"));
  std::string text;
  RingReader(owner->map().ring(0)).read([&](const EventHeader& header) {
    text = text_of(*event_cast<TextEvent>(header));
  });
  EXPECT_EQ(text, "hello");
}

TEST_F(SessionTest, RefusesANameInUse) {
  const Result<SessionOwner> first = SessionOwner::create(options("twice"));
  ASSERT_TRUE(first);
  const Result<SessionOwner> second = SessionOwner::create(options("twice"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::bad_input);
  EXPECT_NE(second.error().message.find("'twice'"), std::string::npos) << second.error().message;
  EXPECT_TRUE(SessionMap::attach(first->path()));
}

TEST_F(SessionTest, NumbersANameInUseOnRequest) {
  SessionOptions asked = options("one");
  asked.number_if_taken = true;
  std::deque<SessionOwner> owners;
  for (const char* name : {"one", "one-2", "one-3"}) {
    Result<SessionOwner> owner = SessionOwner::create(asked);
    ASSERT_TRUE(owner) << owner.error().message;
    EXPECT_STREQ(owner->map().header().name, name);
    owners.push_back(*std::move(owner));
  }
  owners.pop_front();
  const Result<SessionOwner> again = SessionOwner::create(asked);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_STREQ(again->map().header().name, "one");
}

TEST_F(SessionTest, NamesAreChecked) {
  for (const char* name : {"", ".hidden", "a/b", "a b", "name\n", "..", "\xc3\xa9"}) {
    const Result<SessionOwner> owner = SessionOwner::create(options(name));
    ASSERT_FALSE(owner) << name;
    EXPECT_EQ(owner.error().kind, ErrorKind::bad_input);
    EXPECT_NE(owner.error().message.find(name), std::string::npos);
  }
  EXPECT_FALSE(SessionOwner::create(options(std::string(64, 'x'))));
  EXPECT_TRUE(SessionOwner::create(options(std::string(63, 'x'))));
  EXPECT_TRUE(SessionOwner::create(options("A-z_0.9")));
}

TEST_F(SessionTest, TooLittleMemoryIsAnErrorAndLeavesNoFiles) {
  for (const int bits : {46, 50, 61, 63}) {
    SessionOptions o = options("huge");
    o.rings[0] = {8, std::size_t{1} << bits};
    const Result<SessionOwner> owner = SessionOwner::create(o);
    ASSERT_FALSE(owner) << bits;
    EXPECT_EQ(owner.error().kind, ErrorKind::unavailable);
    EXPECT_NE(owner.error().message.find("no space"), std::string::npos) << owner.error().message;
    EXPECT_NE(owner.error().message.find("--buffer-size"), std::string::npos);
    EXPECT_EQ(files(), std::set<std::string>{}) << bits;
  }
}

TEST_F(SessionTest, RefusesImpossibleRingSizes) {
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{4096}, std::size_t{100'000}}) {
    SessionOptions o = options("odd");
    o.rings[0].capacity = capacity;
    const Result<SessionOwner> owner = SessionOwner::create(o);
    ASSERT_FALSE(owner) << capacity;
    EXPECT_EQ(owner.error().kind, ErrorKind::bad_input);
  }
}

TEST_F(SessionTest, AttachRefusesOtherFiles) {
  const std::string missing = folder_.path() + "/none.session";
  const Result<SessionMap> none = SessionMap::attach(missing);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::bad_input);
  EXPECT_NE(none.error().message.find(missing), std::string::npos);

  const std::string file = folder_.path() + "/odd.session";
  std::ofstream(file) << "short";
  EXPECT_FALSE(SessionMap::attach(file));
  std::ofstream(file) << std::string(100'000, 'x');
  const Result<SessionMap> odd = SessionMap::attach(file);
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("not a wic-prof session"), std::string::npos);
}

TEST_F(SessionTest, AttachRefusesAnotherVersion) {
  const Result<SessionOwner> owner = SessionOwner::create(options("versions"));
  ASSERT_TRUE(owner);
  owner->map().header().version = kSessionVersion + 1;
  owner->map().header().total_bytes = 1;  // which another version may have elsewhere
  const Result<SessionMap> map = SessionMap::attach(owner->path());
  ASSERT_FALSE(map);
  EXPECT_NE(map.error().message.find("version " + std::to_string(kSessionVersion + 1)), std::string::npos)
      << map.error().message;
}

TEST_F(SessionTest, ListsRunningSessionsByName) {
  EXPECT_TRUE(list_sessions()->empty());
  const Result<SessionOwner> b = SessionOwner::create(options("b"));
  const Result<SessionOwner> a = SessionOwner::create(options("a"));
  ASSERT_TRUE(a && b);
  const Result<std::vector<SessionInfo>> sessions = list_sessions();
  ASSERT_TRUE(sessions);
  ASSERT_EQ(sessions->size(), 2u);
  EXPECT_EQ(sessions->at(0).name, "a");
  EXPECT_EQ(sessions->at(0).path, a->path());
  EXPECT_EQ(sessions->at(0).socket_path, a->socket_path());
  EXPECT_EQ(sessions->at(1).name, "b");
}

// Starts a tool in another process and kills it with its session open. Returns when it is dead.
void leave_stale(const SessionOptions& options) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Result<SessionOwner> owner = SessionOwner::create(options);
    if (owner) std::ofstream(owner->socket_path()) << "as if a socket";
    const char made = owner ? 'y' : 'n';
    if (write(pipe_ends[1], &made, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char made = 0;
  ASSERT_EQ(read(pipe_ends[0], &made, 1), 1);
  ASSERT_EQ(made, 'y');
  const Result<std::vector<SessionInfo>> alive = list_sessions();
  ASSERT_TRUE(alive);
  ASSERT_EQ(alive->size(), 1u);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST_F(SessionTest, ListingRemovesFilesOfDeadTools) {
  leave_stale(options("dead"));
  EXPECT_EQ(files(), (std::set<std::string>{"dead.session", "dead.sock"}));
  EXPECT_TRUE(list_sessions()->empty());
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(SessionTest, NameOfADeadToolIsFree) {
  leave_stale(options("again"));
  const Result<SessionOwner> owner = SessionOwner::create(options("again"));
  ASSERT_TRUE(owner) << owner.error().message;
  EXPECT_EQ(owner->map().header().tool_pid, getpid());
  EXPECT_EQ(list_sessions()->size(), 1u);
}

TEST_F(SessionTest, WithoutXdgRuntimeDirUsesAFolderOfTheUser) {
  for (const bool empty : {false, true}) {
    if (empty) {
      setenv("XDG_RUNTIME_DIR", "", 1);
    } else {
      unsetenv("XDG_RUNTIME_DIR");
    }
    const Result<std::string> directory = session_directory();
    ASSERT_TRUE(directory) << directory.error().message;
    EXPECT_TRUE(directory->ends_with("/wic-prof-" + std::to_string(geteuid()))) << *directory;
    struct stat info {};
    ASSERT_EQ(stat(directory->c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    EXPECT_EQ(info.st_uid, geteuid());
  }
}

TEST_F(SessionTest, NamesAFolderThatCannotBeCreated) {
  setenv("XDG_RUNTIME_DIR", "/proc/nowhere", 1);
  const Result<SessionOwner> owner = SessionOwner::create(options("x"));
  ASSERT_FALSE(owner);
  EXPECT_EQ(owner.error().kind, ErrorKind::unavailable);
  EXPECT_NE(owner.error().message.find("/proc/nowhere/wic-prof"), std::string::npos);
  EXPECT_NE(owner.error().message.find("XDG_RUNTIME_DIR"), std::string::npos);
}

TEST_F(SessionTest, RestrictsAFolderOpenToOthers) {
  std::filesystem::create_directory(folder_.sessions());
  chmod(folder_.sessions().c_str(), 0777);
  ASSERT_TRUE(session_directory());
  struct stat info {};
  ASSERT_EQ(stat(folder_.sessions().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(SessionTest, RefusesALinkAsFolder) {
  std::filesystem::create_directory(folder_.path() + "/elsewhere");
  std::filesystem::create_symlink(folder_.path() + "/elsewhere", folder_.sessions());
  EXPECT_FALSE(session_directory());
}

}  // namespace
}  // namespace wicprof
