// std::atomic_ref for programs in C++17: memory that other threads access at the same time, on the CPU device.
#pragma once

#include <type_traits>

namespace wic::simt {

/// Loads acquire, stores release, changes do both.
template <class Word>
class Atomic {
 public:
  explicit Atomic(Word& word) : word_(&word) {}

  Word load() const { return __atomic_load_n(word_, __ATOMIC_ACQUIRE); }
  void store(Word value) const { __atomic_store_n(word_, value, __ATOMIC_RELEASE); }
  Word fetch_add(Word value) const { return __atomic_fetch_add(word_, value, __ATOMIC_ACQ_REL); }
  Word fetch_xor(Word value) const { return __atomic_fetch_xor(word_, value, __ATOMIC_ACQ_REL); }
  Word exchange(Word value) const { return __atomic_exchange_n(word_, value, __ATOMIC_ACQ_REL); }
  bool compare_exchange(Word& expected, Word desired) const {
    return __atomic_compare_exchange_n(word_, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }

 private:
  Word* word_;
};

/// The word, which a reader has as const.
template <class Word>
Atomic<Word> atomic(const Word& word) {
  return Atomic<Word>(const_cast<Word&>(word));
}

}  // namespace wic::simt
