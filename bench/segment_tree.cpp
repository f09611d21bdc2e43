// Allocation of message pages by the segment tree, compared with linear scans: one over an array of one byte per page,
// one over a bitmap in words of 64 pages. All three do the same operations and must return the same pages. Then ten
// million operations on the tree, after which every page must be free again.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "bench/claim.h"
#include "protocol/time.h"
#include "src/channel/segment_tree.h"

namespace {

using namespace wicprof;

constexpr std::uint32_t kPages = 16384;  // message pages of a device
constexpr std::uint32_t kMaxRun = 16;    // one request covers up to 16 warps
constexpr std::uint32_t kSizes[] = {256, 1024, 4096, kPages, 65536};
constexpr std::uint32_t kNone = ~0u;

class ArrayScan {
 public:
  explicit ArrayScan(std::uint32_t pages) : taken_(pages) {}
  std::optional<std::uint32_t> take(std::uint32_t run) {
    std::uint32_t length = 0;
    for (std::uint32_t page = 0; page < taken_.size(); ++page) {
      length = taken_[page] != 0 ? 0 : length + 1;
      if (length < run) continue;
      std::fill_n(taken_.begin() + (page + 1 - run), run, std::uint8_t{1});
      return page + 1 - run;
    }
    return std::nullopt;
  }
  bool give_back(std::uint32_t first, std::uint32_t run) {
    std::fill_n(taken_.begin() + first, run, std::uint8_t{0});
    return true;
  }

 private:
  std::vector<std::uint8_t> taken_;
};

class BitmapScan {
 public:
  explicit BitmapScan(std::uint32_t pages) : pages_(pages), taken_(pages / 64) {}
  std::optional<std::uint32_t> take(std::uint32_t run) {
    std::uint32_t first = next(0, 0);
    while (first < pages_) {
      const std::uint32_t end = next(first, ~std::uint64_t{0});
      if (end - first >= run) {
        turn(first, run);
        return first;
      }
      first = next(end, 0);
    }
    return std::nullopt;
  }
  bool give_back(std::uint32_t first, std::uint32_t run) {
    turn(first, run);
    return true;
  }

 private:
  // The first page from `page` on that is free (flip: 0) or taken (flip: all ones); the number of pages if there is
  // none.
  std::uint32_t next(std::uint32_t page, std::uint64_t flip) const {
    std::uint64_t above = ~std::uint64_t{0} << page % 64;
    for (std::uint32_t word = page / 64; word < taken_.size(); ++word, above = ~std::uint64_t{0}) {
      const std::uint64_t found = ~(taken_[word] ^ flip) & above;
      if (found != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(found));
    }
    return pages_;
  }
  void turn(std::uint32_t first, std::uint32_t run) {
    for (std::uint32_t page = first; page < first + run; ++page) taken_[page / 64] ^= std::uint64_t{1} << page % 64;
  }

  std::uint32_t pages_;
  std::vector<std::uint64_t> taken_;
};

struct Operation {
  bool takes;
  std::uint32_t run;
  std::uint32_t first;  // expected result of an allocation; kNone for failure
};

// Random allocations and releases with about three quarters of the pages taken, where free runs are scattered.
std::vector<Operation> make_operations(std::uint32_t pages, std::size_t count) {
  std::mt19937 random(pages);
  wic::SegmentTree tree(pages);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held;
  const auto step = [&](bool takes) -> Operation {
    if (takes) {
      const std::uint32_t run = 1 + random() % kMaxRun;
      const std::optional<std::uint32_t> first = tree.take(run);
      if (first) held.emplace_back(*first, run);
      return {true, run, first.value_or(kNone)};
    }
    std::swap(held[random() % held.size()], held.back());
    const auto [first, run] = held.back();
    held.pop_back();
    tree.give_back(first, run);
    return {false, run, first};
  };
  std::vector<Operation> operations;
  while (operations.size() < count) {
    operations.push_back(step(tree.free_pages() > pages / 4 || held.empty() || random() % 16 == 0));
  }
  return operations;
}

// Nanoseconds per operation; negative if the pages differ. The pages are filled before the timing starts.
template <class Pages>
double time_of(std::uint32_t pages, const std::vector<Operation>& operations, std::size_t fill) {
  Pages subject(pages);
  std::size_t wrong = 0;
  const auto perform = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Operation& operation = operations[i];
      wrong += operation.takes ? subject.take(operation.run).value_or(kNone) != operation.first
                               : !subject.give_back(operation.first, operation.run);
    }
  };
  perform(0, fill);
  const TimeNs begin = now_ns();
  perform(fill, operations.size());
  const double ns = static_cast<double>(now_ns() - begin) / static_cast<double>(operations.size() - fill);
  return wrong == 0 ? ns : -1;
}

// Number of pages still taken after `operations` random operations and the release of all held pages.
std::uint32_t lost_pages(std::int64_t count) {
  std::mt19937 random(1);
  wic::SegmentTree tree(kPages);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held;
  for (std::int64_t i = 0; i < count; ++i) {
    if (held.empty() || random() % 2 == 0) {
      const std::uint32_t run = 1 + random() % kMaxRun;
      if (const auto first = tree.take(run)) held.emplace_back(*first, run);
    } else {
      std::swap(held[random() % held.size()], held.back());
      tree.give_back(held.back().first, held.back().second);
      held.pop_back();
    }
  }
  for (const auto& [first, run] : held) tree.give_back(first, run);
  return kPages - std::min(tree.free_pages(), tree.longest_run());
}

struct Times {
  std::vector<double> tree, array, bitmap;
};

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("segment_tree",
                     "nanoseconds to allocate or release pages, by the segment tree and by linear scans", argc, argv);
  const std::int64_t operations = claim.option("operations", 100'000);
  const std::int64_t repetitions = claim.option("repetitions", 5);
  const std::int64_t leak_operations = claim.option("leak-operations", 10'000'000);

  std::map<std::uint32_t, double> tree_ns;
  for (const std::uint32_t pages : kSizes) {
    // The first operations allocate pages until the steady state; they are not timed.
    const std::size_t fill = pages / 4;
    const std::vector<Operation> sequence = make_operations(pages, fill + static_cast<std::size_t>(operations));
    Times times;
    for (std::int64_t i = 0; i < repetitions + 1; ++i) {
      const double tree = time_of<wic::SegmentTree>(pages, sequence, fill);
      const double array = time_of<ArrayScan>(pages, sequence, fill);
      const double bitmap = time_of<BitmapScan>(pages, sequence, fill);
      if (tree < 0 || array < 0 || bitmap < 0) {
        std::fprintf(stderr, "segment_tree: the methods disagree on the pages\n");
        return 2;
      }
      if (i == 0) continue;  // warms up
      times.tree.push_back(tree);
      times.array.push_back(array);
      times.bitmap.push_back(bitmap);
    }
    const double tree = tree_ns[pages] = bench::median(times.tree);
    const double array = bench::median(times.array), bitmap = bench::median(times.bitmap);
    const std::map<std::string, bench::Parameter> params = {
        {"pages", std::int64_t{pages}}, {"operations", operations}, {"repetitions", repetitions}};
    claim.add({"array_scan", params, array, "ns"});
    claim.add({"bitmap_scan", params, bitmap, "ns"});
    const bool full_size = pages == kPages;
    claim.add({"tree_beside_array", params, tree, "ns", "array_scan", tree / array,
               full_size ? std::optional(0.1) : std::nullopt, true});
    claim.add({"tree_beside_bitmap", params, tree, "ns", "bitmap_scan", tree / bitmap,
               full_size ? std::optional(1.0) : std::nullopt, true});
    std::fprintf(stderr, "%6u pages: tree %.0f ns, array %.0f ns, bitmap %.0f ns\n", pages, tree, array, bitmap);
  }
  const double grown = tree_ns[kPages] / tree_ns[kSizes[0]];
  const double logarithm = std::log2(kPages) / std::log2(kSizes[0]);
  claim.add({"tree_growth",
             {{"pages", std::int64_t{kPages}}, {"from_pages", std::int64_t{kSizes[0]}}},
             grown,
             "times",
             "growth of log2(pages)",
             grown / logarithm,
             1.5,
             true});
  const std::uint32_t lost = lost_pages(leak_operations);
  claim.add({"lost_pages",
             {{"pages", std::int64_t{kPages}}, {"operations", leak_operations}},
             double(lost),
             "pages",
             "all pages",
             double(lost) / kPages,
             0.0,
             true});
  return claim.write();
}
