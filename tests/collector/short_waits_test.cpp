#include "collector/waits/short_waits.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

void add(ShortWaits& waits, std::uint32_t number) {
  HostWaitEvent* const place = waits.place();
  ASSERT_NE(place, nullptr);
  *place = make_event<HostWaitEvent>();
  place->iteration = number;
  waits.commit();
}

std::vector<std::uint32_t> take(ShortWaits& waits) {
  std::vector<std::uint32_t> taken;
  waits.pass_on([&](std::span<const HostWaitEvent> some) {
    for (const HostWaitEvent& wait : some) taken.push_back(wait.iteration);
  });
  return taken;
}

TEST(ShortWaits, AreTakenOnceAndInOrder) {
  ShortWaits waits;
  std::uint32_t next = 0;
  for (const std::size_t count : {std::size_t{1}, ShortWaits::kRoom, std::size_t{5}}) {
    const std::uint32_t first = next;
    for (std::size_t i = 0; i < count; ++i) add(waits, next++);
    const std::vector<std::uint32_t> taken = take(waits);
    ASSERT_EQ(taken.size(), count);
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(taken[i], first + i);
    EXPECT_TRUE(waits.empty());
    EXPECT_TRUE(take(waits).empty());
  }
}

TEST(ShortWaits, AFullOneHasNoPlace) {
  ShortWaits waits;
  for (std::uint32_t i = 0; i < ShortWaits::kRoom; ++i) add(waits, i);
  EXPECT_EQ(waits.place(), nullptr);
  EXPECT_EQ(take(waits).size(), ShortWaits::kRoom);
  EXPECT_NE(waits.place(), nullptr);
}

TEST(ShortWaits, AThreadAddsWhileAnotherTakes) {
  constexpr std::uint32_t kWaits = 100'000;
  ShortWaits waits;
  std::vector<std::uint32_t> taken;
  std::thread adding([&] {
    for (std::uint32_t i = 0; i < kWaits;) {
      if (waits.place() != nullptr) {
        add(waits, i++);
      } else {
        std::this_thread::yield();
      }
    }
  });
  while (taken.size() < kWaits) {
    const std::vector<std::uint32_t> some = take(waits);
    taken.insert(taken.end(), some.begin(), some.end());
    if (some.empty()) std::this_thread::yield();
  }
  adding.join();
  for (std::uint32_t i = 0; i < kWaits; ++i) ASSERT_EQ(taken[i], i);
}

TEST(ShortWaits, ThoseOfAThreadThatHasEndedAreTakenAndItsRoomIsUsedAgain) {
  ShortWaitsOfThreads all;
  ShortWaits* const first = all.claim();
  EXPECT_NE(all.claim(), first);
  add(*first, 1);
  all.give_back(first);
  EXPECT_EQ(all.claim(), first);
  add(*first, 2);
  std::vector<std::uint32_t> taken;
  all.each([&](ShortWaits& waits) {
    for (const std::uint32_t one : take(waits)) taken.push_back(one);
  });
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{1, 2}));
}

}  // namespace
}  // namespace wicprof::collector
