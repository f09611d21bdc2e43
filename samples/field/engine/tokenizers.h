// Threads that turn prompts into tokens, as the frontend of a serving engine does.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/mix.h"
#include "field/cpu_limit.h"

namespace sample::engine {

/// Byte-pair encoding (Sennrich, Haddow, Birch, 2016) with a made vocabulary: half of the pairs of letters are in it,
/// and as many longer pieces as in that of a small model.
class Vocabulary {
 public:
  Vocabulary() {
    for (std::uint32_t a = 'a'; a <= 'z'; ++a) {
      for (std::uint32_t b = 'a'; b <= 'z'; ++b) {
        if (mix(a << 8 | b) % 2 == 0) add(a, b);
      }
    }
    for (std::uint64_t n = 0; merges_.size() < kMerges; ++n) {
      const std::uint64_t draw = mix(n);
      add(static_cast<std::uint32_t>(draw % next_), static_cast<std::uint32_t>((draw >> 32) % next_));
    }
  }

  /// The tokens of a text of words, folded into one number.
  std::uint32_t tokens_of(const std::string& text) const {
    std::uint64_t folded = 0;
    std::vector<std::uint32_t> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      pieces.assign(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end));
      while (merge_one(pieces)) {
      }
      for (const std::uint32_t piece : pieces) folded = mix(folded ^ piece);
      at = end + 1;
    }
    return static_cast<std::uint32_t>(folded);
  }

 private:
  static constexpr std::size_t kMerges = 32'000;

  void add(std::uint32_t a, std::uint32_t b) {
    if (merges_.emplace(std::uint64_t{a} << 32 | b, next_).second) ++next_;
  }
  // Of all pairs of neighbours, joins the one that came first into the vocabulary.
  bool merge_one(std::vector<std::uint32_t>& pieces) const {
    std::uint32_t best = ~0u;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto merge = merges_.find(std::uint64_t{pieces[i]} << 32 | pieces[i + 1]);
      if (merge == merges_.end() || merge->second >= best) continue;
      best = merge->second;
      place = i;
    }
    if (best == ~0u) return false;
    pieces[place] = best;
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    return true;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> merges_;  // from two tokens to the token of both
  std::uint32_t next_ = 256;
};

/// Prompts that are ready for one engine. Any thread.
class Inbox {
 public:
  void put(std::uint32_t key) {
    {
      const std::lock_guard lock(mutex_);
      keys_.push_back(key);
    }
    changed_.notify_one();
  }
  /// Takes one; waits for it for up to `wait_ns`. False: there is none.
  bool take(std::uint32_t& key, std::uint64_t wait_ns) {
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return !keys_.empty(); };
    if (!ready() && (wait_ns == 0 || !changed_.wait_for(lock, std::chrono::nanoseconds(wait_ns), ready))) return false;
    key = keys_.front();
    keys_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint32_t> keys_;
};

/// Any thread.
class Tokenizers {
 public:
  /// `inboxes` must outlive the threads.
  Tokenizers(std::uint32_t threads, std::uint32_t prompt_bytes, std::uint32_t cpus, std::deque<Inbox>& inboxes)
      : prompt_bytes_(prompt_bytes), inboxes_(inboxes) {
    for (std::uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this, cpus] { work(cpus); });
  }
  Tokenizers(const Tokenizers&) = delete;
  ~Tokenizers() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// A user of that engine sends the next prompt.
  void submit(std::uint32_t engine) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({engine, next_prompt_++});
    }
    changed_.notify_one();
  }

 private:
  struct Prompt {
    std::uint32_t engine;
    std::uint64_t number;
  };
  void work(std::uint32_t cpus) {
    const CpuLimit limit(cpus);
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
      if (over_) return;
      const Prompt prompt = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      std::string text(prompt_bytes_, ' ');
      for (std::size_t i = 0; i < text.size(); ++i) {
        const std::uint64_t draw = mix(prompt.number << 32 | i);
        if (draw % 7 != 0) text[i] = static_cast<char>('a' + (draw >> 8) % 26);
      }
      inboxes_[prompt.engine].put(vocabulary_.tokens_of(text));
    }
  }

  const Vocabulary vocabulary_;
  const std::uint32_t prompt_bytes_;
  std::deque<Inbox>& inboxes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Prompt> waiting_;
  std::uint64_t next_prompt_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sample::engine
