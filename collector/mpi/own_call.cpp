#include "collector/mpi/own_call.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace wicprof::collector {

namespace {

using Entry = OpenEntry<OpenMpiCall>;

OpenWork* shown_in = nullptr;
pthread_key_t at_thread_end;

// Trivial, since programs call MPI from destructors, too.
thread_local Entry* own = nullptr;
thread_local std::uint32_t own_thread = 0;

Entry* own_entry() {
  if (own_thread != 0) return own;
  own_thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  own = claim_entry(shown_in->mpi_calls, static_cast<std::uint32_t>(getpid()), shown_in->mpi_left_out, process_is_gone);
  if (own != nullptr) pthread_setspecific(at_thread_end, own);
  return own;
}

}  // namespace

void show_mpi_calls(OpenWork& work) {
  const auto give_back = [](void* entry) {
    own = nullptr;
    // In the child of a fork the entry is still the parent's.
    if (static_cast<Entry*>(entry)->pid() == static_cast<std::uint32_t>(getpid())) {
      static_cast<Entry*>(entry)->give_back();
    }
  };
  if (pthread_key_create(&at_thread_end, give_back) == 0) shown_in = &work;
}

void enter_mpi_call(OpenMpiCall& call, std::size_t awaited) noexcept {
  Entry* const entry = shown_in == nullptr ? nullptr : own_entry();
  if (entry == nullptr) return;
  call.thread = own_thread;
  entry->write_front(call, offsetof(OpenMpiCall, awaited) + awaited * sizeof(OpenMpiRequest));
}

void leave_mpi_call(TimeNs at) noexcept {
  if (own != nullptr) own->write_word(offsetof(OpenMpiCall, end), static_cast<std::uint64_t>(at));
}

}  // namespace wicprof::collector
