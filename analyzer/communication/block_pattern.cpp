#include "analyzer/communication/block_pattern.h"

#include <algorithm>
#include <array>
#include <bit>

namespace wicprof::analyzer {
namespace {

// Not calibrated; tests/analyzer/classify_test.cpp checks the answers that follow from them.

/// Fewer sending blocks or signals show no pattern; both blocks must be known for most signals.
constexpr std::size_t kMinSenders = 8, kMinSignals = 16;
constexpr double kKnown = 0.9;
/// Least shares of the signals that go to a neighbour, or to a block at a distance of a power of two.
constexpr double kNeighbours = 0.9, kPartners = 0.95;
/// Signals to neighbours go both ways if each way has at least a quarter.
constexpr double kEachWay = 0.25;
constexpr std::size_t kMinPartnerDistances = 3;
/// The most that such an answer is worth: little above kMinConfidence.
constexpr double kConfidence = 0.6;

}  // namespace

BlockPattern block_pattern(const std::vector<Message>& messages, const std::vector<std::uint32_t>& list) {
  std::vector<std::uint32_t> senders;
  std::size_t next = 0, up = 0, partners = 0;
  std::array<std::size_t, 32> bits{};
  for (const std::uint32_t i : list) {
    const Message& m = messages[i];
    if (m.sender == Message::kNobody || m.receiver == Message::kNobody) continue;
    senders.push_back(m.sender);
    const std::uint32_t distance = m.sender > m.receiver ? m.sender - m.receiver : m.receiver - m.sender;
    if (distance == 1) {
      ++next;
      up += m.receiver > m.sender ? 1 : 0;
    }
    const std::uint32_t differ = m.sender ^ m.receiver;
    if (std::has_single_bit(differ)) {
      ++partners;
      ++bits[static_cast<std::size_t>(std::countr_zero(differ))];
    }
  }
  const std::size_t known = senders.size();
  std::sort(senders.begin(), senders.end());
  const auto distinct = static_cast<std::size_t>(std::unique(senders.begin(), senders.end()) - senders.begin());
  const bool enough = distinct >= kMinSenders && known >= kMinSignals &&
                      static_cast<double>(known) >= kKnown * static_cast<double>(list.size());
  if (!enough) return {};
  const auto part_of = [](std::size_t part, std::size_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  const double neighbours = part_of(next, known), upwards = next == 0 ? 0 : part_of(up, next);
  if (neighbours >= kNeighbours && upwards >= kEachWay && upwards <= 1 - kEachWay) {
    return {Pattern::adjacent, kConfidence * neighbours, neighbours, known, 1};
  }
  const double at_powers = part_of(partners, known);
  const auto distances =
      static_cast<std::size_t>(std::count_if(bits.begin(), bits.end(), [](std::size_t n) { return n > 0; }));
  if (at_powers >= kPartners && distances >= kMinPartnerDistances) {
    return {Pattern::scatter_gather, kConfidence * at_powers, at_powers, known, distances};
  }
  return {};
}

}  // namespace wicprof::analyzer
