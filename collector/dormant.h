// What the library is in a program that nobody records: a page and a thread that sleeps in the kernel.
#pragma once

namespace wicprof::collector {

/// From now on `wic-prof attach` finds this program. Where the system refuses the page or the thread, nobody does, and
/// the program runs as it would. Call once, within cuInit().
void wait_to_be_woken() noexcept;

}  // namespace wicprof::collector
