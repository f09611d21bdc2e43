// What every thread that the backend starts in the program's process does first.
#pragma once

namespace wic {

/// Names the calling thread (at most 15 characters), so that debuggers and profilers tell it from the program's
/// threads, and prepares it for the devices that are open. Call once per thread, at its begin.
void enter_own_thread(const char* name);

/// A kind of device has `prepare` called by every thread that the backend starts from now on. One kind. Any thread.
void prepare_own_threads(void (*prepare)());

}  // namespace wic
