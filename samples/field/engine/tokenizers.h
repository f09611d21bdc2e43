// Threads that turn prompts into tokens, as the frontend of a serving engine does.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/mix.h"
#include "field/cpu_limit.h"

namespace sample::engine {

/// The tokens of a text, folded into one word: the longest pieces of up to eight bytes that are in a made vocabulary.
inline std::uint32_t tokens_of(const std::string& text) {
  std::uint64_t folded = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t piece = 0, token = 0;
    std::size_t length = 1;
    for (std::size_t k = 0; k < 8 && at + k < text.size(); ++k) {
      piece = piece << 8 | static_cast<unsigned char>(text[at + k]);
      const std::uint64_t hash = mix(piece);
      if (k == 0 || hash % (k + 1) == 0) {
        token = hash;
        length = k + 1;
      }
    }
    folded = mix(folded ^ token);
    at += length;
  }
  return static_cast<std::uint32_t>(folded);
}

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
      for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + mix(prompt.number + i) % 26);
      inboxes_[prompt.engine].put(tokens_of(text));
    }
  }

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
