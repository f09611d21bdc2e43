// Producer and consumer at the same time, in two threads and in two processes: records arrive complete and in order,
// and delivered plus dropped records are all that were sent.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "protocol/events/wait.h"
#include "protocol/time.h"
#include "tests/protocol/ring_memory.h"

namespace wicprof {
namespace {

constexpr std::size_t kCapacity = 4 * kMaxEventSize;
constexpr std::uint32_t kEvents = 300'000;

// Derives every field from the number, so that a torn record is detected.
WaitEvent event_of(std::uint32_t i) {
  WaitEvent event = make_event<WaitEvent>();
  event.iteration = i;
  event.polls = i * 2654435761u;
  event.arrived_ns = std::uint64_t{i} << 20;
  event.resumed_ns = ~event.arrived_ns;
  event.value = ~i;
  return event;
}

std::string text_for(std::uint32_t i) { return std::string(i % 200, static_cast<char>('a' + i % 26)); }

// Writes waits, and a text every 16th time. `patient`: retries while the ring is full, so that everything arrives.
void produce(RingHeader* ring, bool patient) {
  RingWriter writer(ring);
  for (std::uint32_t i = 0; i < kEvents; ++i) {
    const auto send = [&] { return i % 16 == 15 ? writer.write_text(i, text_for(i)) : writer.write(event_of(i)); };
    while (!send() && patient) std::this_thread::yield();
  }
}

class Consumer {
 public:
  explicit Consumer(RingHeader* ring) : reader_(ring) {}

  void read() {
    const std::size_t delivered = reader_.read([&](const EventHeader& header) { check(header); });
    if (delivered == 0) std::this_thread::yield();
  }
  std::uint64_t received() const { return received_; }
  bool wrong() const { return wrong_; }
  const RingReader& reader() const { return reader_; }

 private:
  void check(const EventHeader& header) {
    std::uint32_t number = 0;
    if (const WaitEvent* wait = event_cast<WaitEvent>(header)) {
      number = wait->iteration;
      const WaitEvent expected = event_of(number);
      wrong_ |= std::memcmp(wait, &expected, sizeof expected) != 0;
    } else if (const TextEvent* text = event_cast<TextEvent>(header)) {
      number = text->id;
      wrong_ |= text_of(*text) != text_for(number);
    } else {
      wrong_ = true;
    }
    wrong_ |= received_ > 0 && number <= last_;
    last_ = number;
    ++received_;
  }

  RingReader reader_;
  std::uint64_t received_ = 0;
  std::uint32_t last_ = 0;
  bool wrong_ = false;
};

TEST(RingConcurrent, TwoThreadsAllArrive) {
  const RingMemory memory(kCapacity);
  std::thread producer([&] { produce(memory.ring(), true); });
  Consumer consumer(memory.ring());
  while (consumer.received() < kEvents && !consumer.wrong()) consumer.read();
  producer.join();
  EXPECT_FALSE(consumer.wrong());
  EXPECT_EQ(consumer.received(), kEvents);
  EXPECT_EQ(consumer.reader().corrupt(), 0u);
}

TEST(RingConcurrent, TwoThreadsCountDrops) {
  const RingMemory memory(kCapacity);
  std::atomic<bool> done{false};
  std::thread producer([&] {
    produce(memory.ring(), false);
    done = true;
  });
  Consumer consumer(memory.ring());
  while (!done) consumer.read();
  producer.join();
  consumer.read();
  EXPECT_FALSE(consumer.wrong());
  EXPECT_EQ(consumer.received() + consumer.reader().dropped(), kEvents);
  EXPECT_EQ(consumer.reader().corrupt(), 0u);
}

// Under the thread sanitizer, too: it sees one process, but would report a race within the consumer's.
void in_two_processes(bool patient) {
  const RingMemory memory(kCapacity);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    produce(memory.ring(), patient);
    _exit(0);
  }
  Consumer consumer(memory.ring());
  int status = 0;
  bool ended = false;
  while (!ended && !consumer.wrong()) {
    consumer.read();
    ended = waitpid(child, &status, WNOHANG) == child;
  }
  if (!ended) kill(child, SIGKILL), waitpid(child, &status, 0);
  consumer.read();
  EXPECT_FALSE(consumer.wrong());
  EXPECT_TRUE(WIFEXITED(status));
  if (patient) {
    EXPECT_EQ(consumer.received(), kEvents);
  } else {
    EXPECT_EQ(consumer.received() + consumer.reader().dropped(), kEvents);
  }
  EXPECT_EQ(consumer.reader().corrupt(), 0u);
}

TEST(RingConcurrent, TwoProcessesAllArrive) { in_two_processes(true); }
TEST(RingConcurrent, TwoProcessesCountDrops) { in_two_processes(false); }

TEST(RingConcurrent, KilledProducerLeavesAReadableRing) {
  for (int round = 0; round < 5; ++round) {
    const RingMemory memory(kCapacity);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) produce(memory.ring(), true);
    }
    Consumer consumer(memory.ring());
    while (consumer.received() < 10'000 && !consumer.wrong()) consumer.read();
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    consumer.read();
    EXPECT_FALSE(consumer.wrong());
    EXPECT_TRUE(consumer.reader().empty());
    EXPECT_EQ(consumer.reader().corrupt(), 0u);
  }
}

}  // namespace
}  // namespace wicprof
