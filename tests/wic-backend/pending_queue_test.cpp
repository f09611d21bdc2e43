// The queue of requests compared with a plain list that is scanned for every tag.
#include "src/channel/pending_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace wic {
namespace {

using Outcome = PendingQueue::Outcome;
using Ids = std::vector<RequestId>;
using Tags = std::vector<Tag>;

class Pending : public testing::Test {
 protected:
  Outcome add(RequestId id, const Tags& tags, std::uint32_t cycle = 1) { return queue.add(id, tags, cycle, arrived); }

  AvailabilityBitmap arrived{100};
  PendingQueue queue;
};

TEST_F(Pending, ARequestIsCompleteWithItsLastTag) {
  EXPECT_EQ(add(7, {3, 40, 5}), Outcome::queued);
  EXPECT_EQ(queue.missing(7), (Tags{3, 40, 5}));
  EXPECT_EQ(queue.tag_arrived(40, 1), Ids{});
  EXPECT_EQ(queue.missing(7), (Tags{3, 5}));
  EXPECT_EQ(queue.tag_arrived(3, 1), Ids{});
  EXPECT_EQ(queue.tag_arrived(5, 1), Ids{7});
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(queue.tag_arrived(5, 1), Ids{});  // once
}

TEST_F(Pending, AvailableTagsAreNotMissing) {
  arrived.set(3, 1);
  EXPECT_EQ(add(1, {3}), Outcome::complete);
  EXPECT_EQ(add(2, {}), Outcome::complete);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(add(3, {3, 4}), Outcome::queued);
  EXPECT_EQ(queue.missing(3), Tags{4});
  EXPECT_EQ(add(4, {3}, 2), Outcome::queued);  // arrived in cycle 1, not yet in 2
}

TEST_F(Pending, ATagNamedTwiceCountsOnce) {
  EXPECT_EQ(add(1, {9, 9, 8, 9}), Outcome::queued);
  EXPECT_EQ(queue.missing(1), (Tags{9, 8}));
  EXPECT_EQ(queue.tag_arrived(9, 1), Ids{});
  EXPECT_EQ(queue.tag_arrived(8, 1), Ids{1});
}

TEST_F(Pending, ARepeatedRequestIsDropped) {
  EXPECT_EQ(add(1, {2}), Outcome::queued);
  EXPECT_EQ(add(1, {2, 3}), Outcome::duplicate);
  EXPECT_EQ(queue.missing(1), Tags{2});
  EXPECT_EQ(queue.tag_arrived(2, 1), Ids{1});
  EXPECT_EQ(add(1, {3}), Outcome::queued);  // the id is free again
}

TEST_F(Pending, CyclesAreSeparate) {
  EXPECT_EQ(add(1, {2}, 1), Outcome::queued);
  EXPECT_EQ(add(2, {2}, 2), Outcome::queued);
  EXPECT_EQ(queue.tag_arrived(2, 2), Ids{2});
  EXPECT_EQ(queue.tag_arrived(2, 1), Ids{1});
}

TEST_F(Pending, CompleteRequestsKeepTheirOrder) {
  for (const RequestId id : {50, 3, 77, 12}) ASSERT_EQ(add(id, {1}), Outcome::queued);
  EXPECT_EQ(queue.tag_arrived(1, 1), (Ids{50, 3, 77, 12}));
}

TEST_F(Pending, ACancelledRequestIsForgotten) {
  ASSERT_EQ(add(1, {5, 6}), Outcome::queued);
  ASSERT_EQ(add(2, {5}), Outcome::queued);
  EXPECT_TRUE(queue.cancel(1));
  EXPECT_FALSE(queue.cancel(1));
  EXPECT_EQ(queue.missing(1), Tags{});
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.tag_arrived(5, 1), Ids{2});
  EXPECT_EQ(queue.tag_arrived(6, 1), Ids{});
  EXPECT_EQ(add(1, {7}), Outcome::queued);
  EXPECT_EQ(queue.tag_arrived(7, 1), Ids{1});
}

// A list in the order of addition; every tag scans it.
class RequestList {
 public:
  Outcome add(RequestId id, const Tags& tags, std::uint32_t cycle,
              const std::set<std::pair<Tag, std::uint32_t>>& arrived) {
    if (find(id) != requests_.end()) return Outcome::duplicate;
    Entry entry{id, cycle, {}};
    for (const Tag tag : tags) {
      const bool named = std::find(entry.missing.begin(), entry.missing.end(), tag) != entry.missing.end();
      if (!named && !arrived.contains({tag, cycle})) entry.missing.push_back(tag);
    }
    if (entry.missing.empty()) return Outcome::complete;
    requests_.push_back(entry);
    return Outcome::queued;
  }
  Ids tag_arrived(Tag tag, std::uint32_t cycle) {
    Ids complete;
    for (Entry& entry : requests_) {
      if (entry.cycle != cycle) continue;
      std::erase(entry.missing, tag);
      if (entry.missing.empty()) complete.push_back(entry.id);
    }
    std::erase_if(requests_, [](const Entry& entry) { return entry.missing.empty(); });
    return complete;
  }
  bool cancel(RequestId id) {
    return std::erase_if(requests_, [id](const Entry& entry) { return entry.id == id; }) != 0;
  }
  std::size_t size() const { return requests_.size(); }
  Tags missing(RequestId id) {
    const auto at = find(id);
    return at == requests_.end() ? Tags{} : at->missing;
  }

 private:
  struct Entry {
    RequestId id;
    std::uint32_t cycle;
    Tags missing;
  };
  std::vector<Entry>::iterator find(RequestId id) {
    return std::find_if(requests_.begin(), requests_.end(), [id](const Entry& entry) { return entry.id == id; });
  }
  std::vector<Entry> requests_;
};

TEST(PendingQueue, AgreesWithAScannedList) {
  constexpr std::uint32_t kTags = 40, kIds = 60;
  std::map<Outcome, int> outcomes;
  std::size_t together = 0;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    AvailabilityBitmap bitmap(kTags);
    std::set<std::pair<Tag, std::uint32_t>> arrived;
    PendingQueue queue;
    RequestList list;
    std::uint32_t cycle = 1;
    Tags to_come;
    for (int i = 0; i < 5'000; ++i) {
      if (to_come.empty()) {  // end of the cycle: all its requests are complete
        ASSERT_EQ(queue.size(), 0u);
        if (i != 0) ++cycle;
        for (Tag tag = 0; tag < kTags; ++tag) to_come.push_back(tag);
        std::shuffle(to_come.begin(), to_come.end(), random);
      }
      const RequestId id = random() % kIds;
      switch (random() % 8) {
        case 0: {
          const Tag tag = to_come.back();
          to_come.pop_back();
          arrived.insert({tag, cycle});
          bitmap.set(tag, cycle);
          const Ids complete = queue.tag_arrived(tag, cycle);
          ASSERT_EQ(complete, list.tag_arrived(tag, cycle)) << "seed " << seed << ", operation " << i;
          together = std::max(together, complete.size());
          break;
        }
        case 1:
          ASSERT_EQ(queue.cancel(id), list.cancel(id)) << "seed " << seed << ", operation " << i;
          break;
        default: {
          Tags tags(random() % 6);
          for (Tag& tag : tags) tag = random() % kTags;
          const Outcome outcome = queue.add(id, tags, cycle, bitmap);
          ASSERT_EQ(outcome, list.add(id, tags, cycle, arrived)) << "seed " << seed << ", operation " << i;
          ++outcomes[outcome];
        }
      }
      ASSERT_EQ(queue.size(), list.size());
      ASSERT_EQ(queue.missing(id), list.missing(id)) << "seed " << seed << ", operation " << i;
    }
  }
  // The random operations covered every case.
  for (const Outcome outcome : {Outcome::queued, Outcome::complete, Outcome::duplicate})
    EXPECT_GT(outcomes[outcome], 100);
  EXPECT_GT(together, 1u);
}

}  // namespace
}  // namespace wic
