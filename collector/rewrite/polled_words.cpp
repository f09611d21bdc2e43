#include "collector/rewrite/polled_words.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "collector/rewrite/wait_records.h"
#include "protocol/event_batch.h"
#include "protocol/events/polled_word.h"
#include "protocol/events/writer_candidate.h"
#include "protocol/symbol_name.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

/// Makes a context current for the driver's calls.
class InContext {
 public:
  InContext(const RewriteDriver& driver, CUcontext context)
      : driver_(driver), pushed_(driver.push_context(context) == CUDA_SUCCESS) {}
  ~InContext() {
    CUcontext popped = nullptr;
    if (pushed_) driver_.pop_context(&popped);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  explicit operator bool() const { return pushed_; }

 private:
  const RewriteDriver& driver_;
  bool pushed_;
};

template <class Value>
std::optional<Value> attribute(const RewriteDriver& driver, CUpointer_attribute which, std::uint64_t address) {
  Value value{};
  if (driver.pointer_attribute == nullptr ||
      driver.pointer_attribute(&value, which, static_cast<CUdeviceptr>(address)) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return value;
}

/// Whether a copy from there reads memory of a device: the program may have freed the word since its kernel began to
/// poll, and a copy from nowhere would end its context.
bool is_on_device(const RewriteDriver& driver, std::uint64_t address, std::size_t bytes) {
  if (attribute<unsigned>(driver, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CU_MEMORYTYPE_DEVICE) return false;
  if (attribute<unsigned>(driver, CU_POINTER_ATTRIBUTE_MAPPED, address) == 0u) return false;  // of a reserved range
  const auto begin = attribute<CUdeviceptr>(driver, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address);
  const auto size = attribute<std::size_t>(driver, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
  return begin && size && address - *begin + bytes <= *size;
}

}  // namespace

void PolledWords::hide() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : shown_) {
    if (entry != nullptr) entry->give_back();
  }
  shown_.clear();
}

void PolledWords::find_memory(const RewriteDriver& driver, Word& word) const {
  const std::uint64_t address = word.polled.address;
  const auto type = attribute<unsigned>(driver, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (!type) return;
  if (const auto begin = attribute<CUdeviceptr>(driver, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address)) {
    word.begin = *begin;
    word.bytes = attribute<std::size_t>(driver, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address).value_or(0);
  }
  if (attribute<unsigned>(driver, CU_POINTER_ATTRIBUTE_IS_MANAGED, address).value_or(0) != 0) {
    word.memory = WordMemory::managed;
    return;
  }
  if (*type == CU_MEMORYTYPE_HOST) {
    word.memory = WordMemory::pinned_host;
    const auto host = attribute<void*>(driver, CU_POINTER_ATTRIBUTE_HOST_POINTER, address);
    word.host_address = host ? reinterpret_cast<std::uint64_t>(*host) : address;
    return;
  }
  const auto owner = attribute<int>(driver, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  word.memory = owner && cuda_device(*owner) != word.device ? WordMemory::peer_device : WordMemory::device;
}

void PolledWords::add(const RewriteDriver* driver, const std::vector<NewWord>& words,
                      const std::map<SiteId, SiteCode>& sites, EventSink& sink) {
  EventBatch batch(sink);
  for (const NewWord& each : words) {
    const auto site = sites.find(each.site);
    if (site == sites.end()) continue;
    const WantedValue& wanted = site->second.wanted;
    Word word;
    word.polled = {each.address, each.site, word_tag_of(each.address), wanted.is_64_bit};
    word.device = each.device;
    word.context = each.context;
    if (driver != nullptr) {
      const InContext current(*driver, each.context);
      if (current) find_memory(*driver, word);
    }
    auto event = make_event<PolledWordEvent>();
    event.site = each.site;
    event.device = each.device;
    event.address = each.address;
    event.wanted = wanted.value;
    event.mask = wanted.mask;
    event.word_tag = word.polled.tag;
    event.memory = word.memory;
    event.relation = wanted.relation;
    batch.write(event);
    WordWriters::of_process().polled(word.polled);
    const std::lock_guard lock(mutex_);
    words_[each.address].push_back(std::move(word));
  }
}

void PolledWords::write_writers(WriterCandidates& candidates, EventSink& sink, bool all) {
  EventBatch batch(sink);
  const std::lock_guard lock(mutex_);
  for (const auto& [address, words] : words_) {
    for (const WriterCandidates::Candidate& candidate :
         candidates.new_of({address, words.front().begin, words.front().bytes})) {
      for (const Word& word : words) {
        auto event = make_event<WriterCandidateEvent>();
        event.site = word.polled.site;
        event.device = word.device;
        event.kernel = batch.text(demangled(candidate.kernel));
        event.correlation = candidate.correlation;
        event.word_tag = word.polled.tag;
        event.exact = candidate.exact ? 1 : 0;
        batch.write(event);
      }
    }
  }
  const TimeNs patience = is_asked() ? WordWriters::kPatienceWhenAsked : WordWriters::kPatience;
  WordWriters::of_process().write_signals(batch, now_ns(), all ? 0 : patience);
}

PolledWords::Reader* PolledWords::reader_of(const RewriteDriver& driver, CUcontext context) {
  const auto [at, is_new] = readers_.try_emplace(context);
  Reader& reader = at->second;
  if (is_new && driver.copy_to_host != nullptr && driver.query != nullptr) {
    void* words = nullptr;
    if (driver.create_stream(&reader.stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
        driver.host_alloc(&words, kMostRead * sizeof(std::uint64_t), 0) == CUDA_SUCCESS) {
      reader.words = static_cast<std::uint64_t*>(words);
    }
  }
  return reader.words == nullptr ? nullptr : &reader;
}

void PolledWords::read_words(const RewriteDriver& driver, const std::vector<LastingWait>& waits) {
  std::set<std::uint64_t> addresses;
  for (const LastingWait& wait : waits) {
    if (wait.address != 0 && addresses.size() < kMostRead) addresses.insert(wait.address);
  }
  std::map<CUcontext, std::vector<std::pair<std::uint64_t, std::size_t>>> on_devices;  // address and bytes
  std::unique_lock lock(mutex_);
  for (const std::uint64_t address : addresses) {
    const auto known = words_.find(address);
    if (known == words_.end()) continue;
    for (Word& word : known->second) {
      const std::size_t bytes = word.polled.is_64_bit ? 8 : 4;
      std::uint64_t value = 0;
      if (word.memory == WordMemory::pinned_host || word.memory == WordMemory::managed) {
        // A kernel that uses managed memory may forbid the host to: then the system says that it cannot be read.
        if (word.memory == WordMemory::managed || !read_own_memory(word.host_address, &value, bytes)) continue;
        word.value = value;
        word.read = now_ns();
      }
    }
    const Word& first = known->second.front();
    if (first.memory == WordMemory::device || first.memory == WordMemory::peer_device) {
      on_devices[first.context].emplace_back(address, first.polled.is_64_bit ? 8 : 4);
    }
  }
  lock.unlock();
  for (const auto& [context, list] : on_devices) {
    const InContext current(driver, context);
    Reader* const reader = current ? reader_of(driver, context) : nullptr;
    if (reader == nullptr || !reader->addresses.empty()) continue;
    for (const auto& [address, bytes] : list) {
      std::uint64_t& to = reader->words[reader->addresses.size()];
      to = 0;
      if (!is_on_device(driver, address, bytes)) continue;
      if (driver.copy_to_host(&to, static_cast<CUdeviceptr>(address), bytes, reader->stream) != CUDA_SUCCESS) continue;
      reader->addresses.push_back(address);
    }
  }
}

bool PolledWords::take_copies(const RewriteDriver& driver) {
  bool all = true;
  for (auto& [context, reader] : readers_) {
    if (reader.addresses.empty()) continue;
    const InContext current(driver, context);
    if (!current || driver.query(reader.stream) != CUDA_SUCCESS) {
      all = false;
      continue;
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < reader.addresses.size(); ++i) {
      for (Word& word : words_[reader.addresses[i]]) {
        word.value = reader.words[i];
        word.read = now_ns();
      }
    }
    reader.addresses.clear();
  }
  return all;
}

bool PolledWords::read(const RewriteDriver& driver, const std::vector<LastingWait>& waits) {
  const std::uint32_t asked = work_->asked.load();
  if (begun_ != asked) {
    read_words(driver, waits);
    begun_ = asked;
  }
  return take_copies(driver);
}

void PolledWords::answer() { work_->answered.store(begun_); }

void PolledWords::show(const std::vector<LastingWait>& waits, const std::map<SiteId, SiteCode>& sites) {
  if (work_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto pid = static_cast<std::uint32_t>(getpid());
  std::set<Key> lasting;
  for (const LastingWait& each : waits) {
    const auto site = sites.find(each.site);
    if (site == sites.end() || lasting.size() >= kMostShown) continue;
    const Key key{each.site, each.address, each.device, each.block};
    if (!lasting.insert(key).second) continue;
    OpenEntry<OpenWait>*& entry = shown_[key];
    if (entry == nullptr) entry = claim_entry(work_->waits, pid, work_->waits_left_out, process_is_gone);
    if (entry == nullptr) continue;
    const WantedValue& wanted = site->second.wanted;
    OpenWait wait;
    wait.source = WaitSource::patched;
    wait.device = each.device;
    wait.block = each.block;
    wait.warp = each.warp;
    wait.sm = each.sm;
    wait.address = each.address;
    wait.word_tag = word_tag_of(each.address);
    wait.begin = wait.seen = each.begin;
    wait.wide_value = each.value;
    if (const auto known = words_.find(each.address); known != words_.end()) {
      const Word& word = known->second.front();
      wait.memory = word.memory;
      if (word.value && word.read > each.begin) {
        wait.wide_value = *word.value;
        wait.seen = word.read;
      }
    }
    wait.relation = wanted.relation;
    wait.is_64_bit = wanted.is_64_bit ? 1 : 0;
    wait.wide_wanted = wanted.value;
    wait.wanted_mask = wanted.mask;
    wait.value = static_cast<std::uint32_t>(wait.wide_value);
    copy_name(wait.site, site->second.name);
    entry->write(wait);
  }
  std::erase_if(shown_, [&](const auto& each) {
    if (lasting.contains(each.first)) return false;
    if (each.second != nullptr) each.second->give_back();
    return true;
  });
}

void PolledWords::context_ends(CUcontext context) { readers_.erase(context); }

}  // namespace wicprof::collector
