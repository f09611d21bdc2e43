// Streams: what a wait for one waits for, and what else it may change.
#include "tests/guest/gpu.h"

using namespace guest;

// A wait ends with the work that was there at its entry, though another thread keeps putting work into the stream.
void fed_by_another() {
  const cudaStream_t fed = stream();
  for (int i = 0; i < 3; ++i) {
    std::atomic<bool> stop{false};
    busy(fed, 10);
    std::thread feeder([&] {
      for (const double end = now_ms() + 1500; !stop && now_ms() < end; pause_ms(0.5)) busy(fed, 1);
    });
    {
      const Timed timed("wait", 2);  // the feeder may put work in before the call begins
      OK(cudaStreamSynchronize(fed));
    }
    IS(cudaStreamQuery(fed), cudaErrorNotReady);
    stop = true;
    feeder.join();
    OK(cudaStreamSynchronize(fed));
  }
}

// After waits of more than a second, in which a profiler may have stopped looking.
void fed_late() {
  const cudaStream_t own = stream(), fed = stream();
  for (int i = 0; i < 3; ++i) {
    for (const double end = now_ms() + 450; now_ms() < end;) {
      busy(own, 3);
      cudaStreamSynchronize(own);
    }
    const Word word;
    busy(fed, 30);
    std::thread feeder([&] {
      pause_ms(10);
      hold(fed, word);
    });
    {
      const Timed timed("wait", 2);
      OK(cudaStreamSynchronize(fed));
    }
    IS(cudaStreamQuery(fed), cudaErrorNotReady);
    word.set();
    feeder.join();
    OK(cudaStreamSynchronize(fed));
  }
}

// The feeder stops only when the waiter is done: a wait for the stream as it is would never end.
void fed_until_the_wait_ends() {
  const cudaStream_t fed = stream();
  std::atomic<bool> done{false};
  std::atomic<int> beyond{0};
  busy(fed, 3);
  std::thread feeder([&] {
    for (const double end = now_ms() + 2000; !done; pause_ms(0.3)) {
      busy(fed, 0.5);
      if (now_ms() > end) {
        beyond = 1;
        return;
      }
    }
  });
  OK(cudaStreamSynchronize(fed));
  done = true;
  feeder.join();
  IS(beyond.load(), 0);
  OK(cudaStreamSynchronize(fed));
}

// A wait for the legacy stream must put nothing into it: a kernel in a blocking stream, launched meanwhile, releases an
// earlier one in another blocking stream.
void released_during_a_legacy_wait() {
  const cudaStream_t first = stream(cudaStreamDefault), second = stream(cudaStreamDefault);
  const Word word, timed_out;
  hold(first, word, 1, &timed_out);
  std::thread other([&] {
    pause_ms(20);
    set(second, word);
  });
  OK(cudaStreamSynchronize(nullptr));
  other.join();
  OK(cudaDeviceSynchronize());
  IS(*timed_out.at, 0);
}

// The same for a wait for one blocking stream, for the device, and for an event.
void released_during_a_stream_wait() {
  const cudaStream_t first = stream(cudaStreamDefault), second = stream(cudaStreamDefault);
  const Word word, timed_out;
  hold(first, word, 1, &timed_out);
  std::thread other([&] {
    pause_ms(20);
    set(second, word);
  });
  OK(cudaStreamSynchronize(first));
  other.join();
  IS(*timed_out.at, 0);
}
void released_during_a_device_wait() {
  const cudaStream_t first = stream(cudaStreamDefault), second = stream(cudaStreamDefault);
  const Word word, timed_out;
  hold(first, word, 1, &timed_out);
  std::thread other([&] {
    pause_ms(20);
    set(second, word);
  });
  OK(cudaDeviceSynchronize());
  other.join();
  IS(*timed_out.at, 0);
}
void released_during_an_event_wait() {
  const cudaStream_t first = stream(cudaStreamDefault), second = stream(cudaStreamDefault);
  const cudaEvent_t behind = event();
  const Word word, timed_out;
  hold(first, word, 1, &timed_out);
  OK(cudaEventRecord(behind, first));
  std::thread other([&] {
    pause_ms(20);
    set(second, word);
  });
  OK(cudaEventSynchronize(behind));
  other.join();
  IS(*timed_out.at, 0);
}

// A wait for the legacy stream waits for blocking streams, and not for others.
void legacy_waits_for_blocking_streams_only() {
  const cudaStream_t blocking = stream(cudaStreamDefault), apart = stream();
  const Word word;
  hold(apart, word);
  busy(blocking, 5);
  OK(cudaStreamSynchronize(nullptr));
  OK(cudaStreamQuery(blocking));
  IS(cudaStreamQuery(apart), cudaErrorNotReady);
  word.set();
  OK(cudaStreamSynchronize(apart));
}

void per_thread_stream_waits_for_itself() {
  const cudaStream_t apart = stream();
  const Word word;
  hold(apart, word);
  busy(cudaStreamPerThread, 5);
  IS(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  OK(cudaStreamQuery(cudaStreamPerThread));
  std::thread other([&] { OK(cudaStreamSynchronize(cudaStreamPerThread)); });
  other.join();
  word.set();
  OK(cudaDeviceSynchronize());
}

void priorities_stay() {
  int least = 0, greatest = 0;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t high = nullptr;
  OK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
  busy(high, 3);
  OK(cudaStreamSynchronize(high));
  int priority = 0;
  unsigned flags = 0;
  OK(cudaStreamGetPriority(high, &priority));
  OK(cudaStreamGetFlags(high, &flags));
  IS(priority == greatest, 1);
  IS(flags, cudaStreamNonBlocking);
}

// A stream is destroyed and another made while a thread waits for its work.
void destroyed_after_a_wait() {
  for (int i = 0; i < 20; ++i) {
    const cudaStream_t one = stream();
    busy(one, 0.5);
    if (cudaStreamSynchronize(one) != cudaSuccess || cudaStreamQuery(one) != cudaSuccess) say("turn %d failed", i);
    if (cudaStreamDestroy(one) != cudaSuccess) say("turn %d: not destroyed", i);
  }
  OK(cudaGetLastError());
}
void destroyed_with_work_in_it() {
  const Word word;
  const cudaEvent_t behind = event();
  const cudaStream_t one = stream();
  hold(one, word);
  OK(cudaEventRecord(behind, one));
  OK(cudaStreamDestroy(one));
  const cudaStream_t two = stream();
  OK(cudaStreamSynchronize(two));
  IS(cudaEventQuery(behind), cudaErrorNotReady);
  word.set();
  OK(cudaEventSynchronize(behind));
}

// Many streams are made and destroyed while another thread waits for one that stays.
void others_come_and_go() {
  const cudaStream_t stays = stream();
  busy(stays, 100);  // no kernel that something must release: streams may share a queue of the GPU
  std::atomic<int> failed{0};
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      const cudaStream_t one = stream();
      busy(one, 0.05);
      failed += cudaStreamSynchronize(one) != cudaSuccess;
      failed += cudaStreamDestroy(one) != cudaSuccess;
    }
  });
  OK(cudaStreamSynchronize(stays));
  other.join();
  IS(failed.load(), 0);
}

void an_idle_stream() {
  const cudaStream_t idle = stream();
  const Timed timed("100 waits", 2);
  for (int i = 0; i < 100; ++i) {
    if (cudaStreamSynchronize(idle) != cudaSuccess) say("turn %d failed", i);
  }
}
void short_waits() {
  const cudaStream_t one = stream();
  const Timed timed("200 waits", 20);
  for (int i = 0; i < 200; ++i) {
    busy(one, 0.02);
    if (cudaStreamSynchronize(one) != cudaSuccess) say("turn %d failed", i);
  }
}
void long_waits() {
  const cudaStream_t one = stream();
  for (int i = 0; i < 5; ++i) {
    const Timed timed("wait");
    busy(one, 20);
    OK(cudaStreamSynchronize(one));
  }
}
void unequal_waits() {
  const cudaStream_t one = stream();
  for (int i = 0; i < 12; ++i) {
    const Timed timed("wait");
    busy(one, i % 3 == 0 ? 8 : i % 3 == 1 ? 0.2 : 2);
    OK(cudaStreamSynchronize(one));
  }
}

// The wait is over before what comes next: order of host and GPU.
void order_of_two_streams() {
  const cudaStream_t first = stream(), second = stream();
  const cudaEvent_t between = event();
  const Word a, b;
  busy(first, 4);
  set(first, a);
  OK(cudaEventRecord(between, first));
  OK(cudaStreamWaitEvent(second, between));
  set(second, b);
  OK(cudaStreamSynchronize(second));
  IS(*a.at, 1);
  IS(*b.at, 1);
}

void blocking_policy_stays() {
  const cudaStream_t one = stream();
  cudaStreamAttrValue value{};
  value.syncPolicy = cudaSyncPolicyBlockingSync;
  OK(cudaStreamSetAttribute(one, cudaLaunchAttributeSynchronizationPolicy, &value));
  busy(one, 4);
  OK(cudaStreamSynchronize(one));
  value = {};
  OK(cudaStreamGetAttribute(one, cudaLaunchAttributeSynchronizationPolicy, &value));
  IS(value.syncPolicy, cudaSyncPolicyBlockingSync);
}

// Whatever handle the new stream gets, it is not the old one.
void made_again() {
  const Word word;
  for (int i = 0; i < 10; ++i) {
    const cudaStream_t gone = stream(i % 2 == 0 ? cudaStreamNonBlocking : cudaStreamDefault);
    busy(gone, 2);
    OK(cudaStreamSynchronize(gone));
    OK(cudaStreamDestroy(gone));
    const cudaStream_t next = stream(i % 2 == 0 ? cudaStreamDefault : cudaStreamNonBlocking);
    OK(cudaStreamQuery(next));
    busy(next, 2);
    IS(cudaStreamQuery(next), cudaErrorNotReady);
    OK(cudaStreamSynchronize(next));
    OK(cudaStreamDestroy(next));
  }
}
// The default streams by their explicit handles, in the runtime and in the driver.
void explicit_handles() {
  busy(cudaStreamLegacy, 4);
  IS(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
  OK(cudaStreamSynchronize(cudaStreamLegacy));
  busy(cudaStreamPerThread, 4);
  OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  OK(cuStreamQuery(CU_STREAM_PER_THREAD));
  busy(nullptr, 4);
  OK(cuStreamSynchronize(nullptr));
  OK(cuStreamQuery(CU_STREAM_LEGACY));
  OK(cudaGetLastError());
}

// Stream memory operations: a wait for a stream that waits for a word that the host writes.
void waits_for_a_value() {
  const cudaStream_t one = stream();
  const Word word;
  CUdeviceptr address = 0;
  IS(cuMemHostGetDevicePointer(&address, const_cast<unsigned*>(word.at), 0), 0);
  IS(cuStreamWaitValue32(one, address, 7, CU_STREAM_WAIT_VALUE_EQ), 0);
  std::thread other([&] {
    pause_ms(10);
    word.set(7);
  });
  OK(cudaStreamSynchronize(one));
  other.join();
}

QUESTIONS({
    {"fed_by_another", fed_by_another, 0, true},
    {"fed_late", fed_late, 0, true},
    {"fed_until_the_wait_ends", fed_until_the_wait_ends},
    {"released_during_a_legacy_wait", released_during_a_legacy_wait},
    {"released_during_a_stream_wait", released_during_a_stream_wait},
    {"released_during_a_device_wait", released_during_a_device_wait},
    {"released_during_an_event_wait", released_during_an_event_wait},
    {"legacy_waits_for_blocking_streams_only", legacy_waits_for_blocking_streams_only},
    {"per_thread_stream_waits_for_itself", per_thread_stream_waits_for_itself},
    {"priorities_stay", priorities_stay},
    {"destroyed_after_a_wait", destroyed_after_a_wait},
    {"destroyed_with_work_in_it", destroyed_with_work_in_it},
    {"others_come_and_go", others_come_and_go},
    {"an_idle_stream", an_idle_stream, 0, true},
    {"short_waits", short_waits, 0, true},
    {"long_waits", long_waits, 0, true},
    {"unequal_waits", unequal_waits, 0, true},
    {"order_of_two_streams", order_of_two_streams},
    {"blocking_policy_stays", blocking_policy_stays},
    {"made_again", made_again},
    {"explicit_handles", explicit_handles},
    {"waits_for_a_value", waits_for_a_value},
})
