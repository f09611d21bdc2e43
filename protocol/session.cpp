#include "protocol/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>
#include <optional>
#include <utility>

#include "protocol/dormant.h"
#include "protocol/mapping_guard.h"
#include "protocol/session_memory.h"

namespace wicprof {

namespace {
constexpr std::string_view kSuffix = ".session";
}  // namespace

std::string modules_folder_of(const std::string& session_path) {
  return session_path.substr(0, session_path.size() - std::min(session_path.size(), kSuffix.size())) + ".modules";
}

namespace {

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

bool is_ring_capacity(std::size_t bytes) { return std::has_single_bit(bytes) && bytes >= 2 * kMaxEventSize; }

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() < sizeof(SessionHeader::name) && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string::npos;
}

// True for root under `sudo -E`, whose folder in the user's runtime folder would lock the user out.
bool belongs_to_another(const char* folder) {
  struct stat info {};
  return stat(folder, &info) == 0 && info.st_uid != geteuid() && (geteuid() == 0 || access(folder, W_OK) != 0);
}

// Creates the folder or makes it owner-only. Error: it cannot be used.
Result<> prepare_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return unavailable("cannot create the session folder " + path + ": " + std::strerror(errno) +
                       "; set XDG_RUNTIME_DIR to a folder that you can write to");
  }
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
    return unavailable("the session folder " + path +
                       " is not a folder that you own; remove it, or set XDG_RUNTIME_DIR to a folder that you own");
  }
  if ((info.st_mode & 077) != 0 && chmod(path.c_str(), 0700) != 0) {
    return unavailable("the session folder " + path + " is open to others and its mode cannot be changed to 0700");
  }
  return ok();
}

void copy_text(char* to, std::size_t size, const std::string& text) {
  const std::size_t n = std::min(size - 1, text.size());
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

std::string socket_of(const std::string& session_path) {
  return session_path.substr(0, session_path.size() - kSuffix.size()) + ".sock";
}

// Held while a session is created or stale sessions are searched: a file that is not locked yet would look stale.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& directory)
      : fd_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (fd_ >= 0 && flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() {
    if (fd_ >= 0) close(fd_);
  }

 private:
  int fd_;
};

// True when no living tool holds the lock of this session file.
bool is_stale(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const bool stale = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return stale;
}

// Tries again where the file system refuses once: nobody else would remove the socket.
void remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) unlink(path.c_str());
}

void remove_session(const std::string& path) {
  remove_file(socket_of(path));
  std::error_code ignored;
  std::filesystem::remove_all(modules_folder_of(path), ignored);
  remove_file(path);  // the last: another session may have the name from here on
}

}  // namespace

void discard_session(const std::string& path) { remove_session(path); }

RingClasses divide_among_rings(std::size_t bytes) {
  constexpr std::size_t kSmallest = 2 * kMaxEventSize;
  struct Share {
    std::size_t count, part;
  };
  constexpr Share kShares[] = {{8, 16}, {16, 64}, {32, 256}, {456, 4096}};
  RingClasses rings;
  std::size_t left = bytes;
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const std::size_t capacity = std::max(std::bit_floor(bytes / kShares[i].part), kSmallest);
    const std::size_t count = std::min(kShares[i].count, left / capacity);
    rings[i] = {count, capacity};
    left -= count * capacity;
  }
  if (rings[0].count == 0) rings[0].count = 1;
  return rings;
}

SessionMap::Layout SessionMap::Layout::of(const RingClasses& rings) {
  constexpr std::size_t kPage = 4096;
  const std::size_t control = round_up(sizeof(SessionHeader), kPage);
  const std::size_t open_work = round_up(control + sizeof(ControlBlock), kPage);
  return {rings, control, open_work, round_up(open_work + sizeof(OpenWork), kPage)};
}

SessionMap::Layout SessionMap::Layout::in(const SessionHeader& header) {
  return {header.rings, header.control_offset, header.open_work_offset, header.rings_offset};
}

std::size_t SessionMap::Layout::ring_count() const {
  std::size_t count = 0;
  for (const RingClass& each : rings) count += each.count;
  return count;
}

SessionMap::Layout::Place SessionMap::Layout::place_of(std::size_t ring) const {
  std::size_t offset = rings_offset;
  for (const RingClass& each : rings) {
    if (ring < each.count) return {offset + ring * ring_bytes(each.capacity), each.capacity};
    offset += each.count * ring_bytes(each.capacity);
    ring -= each.count;
  }
  return {offset, 0};
}

SessionMap::SessionMap(SessionMap&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      layout_(std::exchange(other.layout_, {})) {}

SessionMap& SessionMap::operator=(SessionMap&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(layout_, other.layout_);
  return *this;
}

SessionMap::~SessionMap() {
  if (memory_ == nullptr) return;
  for (std::size_t i = 0; i < rings_used(); ++i) ring(i)->owner.let_go(memory_);
  munmap(memory_, bytes_);
}

ControlBlock& SessionMap::control() const {
  return *reinterpret_cast<ControlBlock*>(static_cast<std::byte*>(memory_) + layout_.control_offset);
}

OpenWork& SessionMap::open_work() const {
  return *reinterpret_cast<OpenWork*>(static_cast<std::byte*>(memory_) + layout_.open_work_offset);
}

RingHeader* SessionMap::ring(std::size_t index) const {
  return reinterpret_cast<RingHeader*>(static_cast<std::byte*>(memory_) + layout_.place_of(index).offset);
}

std::size_t SessionMap::rings_used() const {
  return std::min<std::size_t>(header().rings_used.load(std::memory_order_acquire), ring_count());
}

RingHeader* SessionMap::claim_ring() const {
  constexpr TimeNs kTimeout = 500 * kMillisecond;
  const TimeNs end = now_ns() + kTimeout;
  bool requested = false;
  for (;;) {
    for (std::size_t i = 0; i < ring_count(); ++i) {
      if (!ring(i)->owner.claim(memory_)) continue;
      ring(i)->capacity = ring_capacity(i);  // in case that something has overwritten it
      std::atomic<std::uint32_t>& used = header().rings_used;
      const auto number = static_cast<std::uint32_t>(i);
      std::uint32_t before = used.load(std::memory_order_relaxed);
      while (before <= number && !used.compare_exchange_weak(before, number + 1, std::memory_order_release)) {
      }
      return ring(i);
    }
    if (header().reclaims_rings.load(std::memory_order_acquire) == 0 || now_ns() >= end) break;
    if (!requested) header().rings_wanted.fetch_add(1, std::memory_order_release);
    requested = true;
    timespec pause{0, kMillisecond};
    nanosleep(&pause, nullptr);
  }
  header().rings_refused.fetch_add(1, std::memory_order_release);
  return nullptr;
}

Result<SessionMap> SessionMap::attach(const std::string& path) {
  const Result<int> opened = open_session_memory(path);
  if (!opened) return opened.error();
  const int fd = *opened;
  struct stat info {};
  const std::size_t bytes = fstat(fd, &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
  if (bytes < sizeof(SessionHeader)) {
    close(fd);
    return bad_input(path + " is not a wic-prof session");
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return unavailable("cannot map the session " + path + ": " + std::strerror(errno));
  SessionMap map(memory, bytes);
  if (map.header().magic.load(std::memory_order_acquire) != SessionHeader::kMagic) {
    return bad_input(path + " is not a wic-prof session");
  }
  // Before all that another version may have elsewhere.
  if (map.header().version != kSessionVersion) {
    return bad_input("the session " + path + " has version " + std::to_string(map.header().version) +
                     ", this build has version " + std::to_string(kSessionVersion) +
                     "; use the wic-prof and the libraries of one release");
  }
  const SessionMap::Layout layout = SessionMap::Layout::in(map.header());
  const auto fits = [&](const RingClass& each) {
    return each.count == 0 || (is_ring_capacity(each.capacity) && each.count <= bytes / each.capacity);
  };
  const bool possible = map.header().total_bytes == bytes &&
                        std::all_of(layout.rings.begin(), layout.rings.end(), fits) &&
                        layout == SessionMap::Layout::of(layout.rings) && layout.total() == bytes;
  if (!possible) return bad_input("the session " + path + " is damaged; end its wic-prof and start it again");
  map.layout_ = layout;
  return map;
}

SessionOwner::SessionOwner(SessionOwner&& other) noexcept
    : map_(std::move(other.map_)),
      path_(std::exchange(other.path_, {})),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      memory_fd_(std::exchange(other.memory_fd_, -1)),
      file_bytes_(other.file_bytes_) {}

SessionOwner::~SessionOwner() {
  if (lock_fd_ < 0) return;
  if (map_) release_mapping(&map_.header());
  remove_session(path_);
  close(lock_fd_);
  if (memory_fd_ >= 0) close(memory_fd_);
}

std::string SessionOwner::socket_path() const { return socket_of(path_); }

// Returns an errno, or 0. Where the system has no sealed memory, the session's file is the memory.
int SessionOwner::make_memory(const std::string& name, std::size_t bytes) {
  const int memory = make_session_memory(name + std::string(kSuffix), bytes);
  if (memory < 0 && memory != -ENOSYS) return -memory;
  int failed = 0;
  if (memory == -ENOSYS) {
    failed = posix_fallocate(lock_fd_, 0, static_cast<off_t>(bytes));
  } else {
    memory_fd_ = memory;
    failed = point_to(memory, lock_fd_) ? 0 : errno;
  }
  struct stat info {};
  if (failed == 0 && fstat(lock_fd_, &info) == 0) file_bytes_ = info.st_size;
  return failed;
}

bool SessionOwner::is_file_cut() const {
  struct stat info {};
  return fstat(lock_fd_, &info) == 0 && info.st_size < file_bytes_;
}

Result<SessionOwner> SessionOwner::create(const SessionOptions& options) {
  if (!valid_name(options.name)) {
    return bad_input("the session name '" + options.name +
                     "' must be 1 to 63 letters, digits, '.', '_' or '-', not starting with '.'");
  }
  for (const RingClass& rings : options.rings) {
    if (rings.count == 0 || is_ring_capacity(rings.capacity)) continue;
    return bad_input("a ring of " + std::to_string(rings.capacity) + " bytes is not possible; it must be " +
                     std::to_string(2 * kMaxEventSize) + " or a larger power of two");
  }
  Result<std::string> directory = session_directory();
  if (!directory) return directory.error();

  std::optional<DirectoryLock> directory_lock(*directory);
  SessionOwner owner;
  std::string name;
  int fd = -1;
  for (int number = 1; fd < 0; ++number) {
    name = number == 1 ? options.name : options.name + "-" + std::to_string(number);
    owner.path_ = *directory + "/" + name + std::string(kSuffix);
    if (access(owner.path_.c_str(), F_OK) == 0 && is_stale(owner.path_)) remove_session(owner.path_);
    fd = open(owner.path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno == EEXIST && options.number_if_taken)) continue;
    if (errno == EEXIST)
      return bad_input("a session named '" + name + "' is running; choose another --name or end that one");
    return unavailable(
        "cannot create the session file " + owner.path_ + ": " + std::strerror(errno) +
        (errno == EMFILE || errno == ENFILE ? "; raise ulimit -n" : "; set XDG_RUNTIME_DIR to another folder"));
  }
  flock(fd, LOCK_EX | LOCK_NB);
  owner.lock_fd_ = fd;
  directory_lock.reset();

  const SessionMap::Layout layout = SessionMap::Layout::of(options.rings);
  // Refuse impossible sizes before their sum overflows.
  constexpr std::size_t kMaxBytes = std::size_t{1} << 47;
  const bool absurd = std::any_of(options.rings.begin(), options.rings.end(), [](const RingClass& rings) {
    return rings.capacity > kMaxBytes || rings.count > kMaxBytes / ring_bytes(rings.capacity);
  });
  const std::size_t total = absurd ? kMaxBytes : layout.total();
  if (const int failed = absurd ? ENOSPC : owner.make_memory(name, total); failed != 0) {
    return unavailable(
        "no space for " + std::to_string(total >> 20) + " MiB of shared memory (" + std::strerror(failed) + "); " +
        (failed == EFBIG ? "raise ulimit -f, or lower --buffer-size" : "lower --buffer-size, or free some space"));
  }
  const int memory_file = owner.memory_fd_ >= 0 ? owner.memory_fd_ : fd;
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file, 0);
  if (memory == MAP_FAILED) {
    return unavailable("cannot map " + std::to_string(total >> 20) + " MiB of shared memory: " + std::strerror(errno));
  }
  owner.map_ = SessionMap(memory, total);
  owner.map_.layout_ = layout;
  guard_mapping(memory, total);

  auto* header = new (memory) SessionHeader{};
  header->version = kSessionVersion;
  header->rings = options.rings;
  header->control_offset = layout.control_offset;
  header->open_work_offset = layout.open_work_offset;
  header->rings_offset = layout.rings_offset;
  header->total_bytes = total;
  header->created_ns = now_ns();
  header->tool_pid = getpid();
  copy_text(header->name, sizeof header->name, name);
  copy_text(header->app, sizeof header->app, options.app);
  new (&owner.map_.control()) ControlBlock{};
  new (&owner.map_.open_work()) OpenWork{};
  for (std::size_t i = 0; i < layout.ring_count(); ++i) make_ring(owner.map_.ring(i), layout.place_of(i).capacity);
  header->magic.store(SessionHeader::kMagic, std::memory_order_release);
  return owner;
}

Result<std::string> session_directory() {
  std::string base;
  const char* const runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0' && !belongs_to_another(runtime)) {
    base = std::string(runtime) + "/wic-prof";
  } else {
    const char* root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    base = std::string(root) + "/wic-prof-" + std::to_string(geteuid());
  }
  if (Result<> prepared = prepare_directory(base); !prepared) return prepared.error();
  return base;
}

Result<std::vector<SessionInfo>> list_sessions() {
  Result<std::string> directory = session_directory();
  if (!directory) return directory.error();
  const DirectoryLock directory_lock(*directory);
  std::vector<SessionInfo> sessions;
  DIR* dir = opendir(directory->c_str());
  if (dir == nullptr) return unavailable("cannot read " + *directory + ": " + std::strerror(errno));
  while (const dirent* entry = readdir(dir)) {
    const std::string file = entry->d_name;
    const std::string path = *directory + "/" + file;
    if (file.ends_with(kDormantSuffix) && is_dormant_file_stale(path)) unlink(path.c_str());
    if (file.size() <= kSuffix.size() || !file.ends_with(kSuffix)) continue;
    if (is_stale(path)) {
      remove_session(path);
      continue;
    }
    sessions.push_back({file.substr(0, file.size() - kSuffix.size()), path, socket_of(path)});
  }
  closedir(dir);
  std::sort(sessions.begin(), sessions.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return sessions;
}

}  // namespace wicprof
