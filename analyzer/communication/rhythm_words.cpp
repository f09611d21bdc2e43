#include <fmt/format.h>

#include "analyzer/communication/rhythm.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

namespace evidence = rhythm_evidence;

std::string range_text(std::uint32_t least, std::uint32_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

std::string ranges_text(const CountRanges& ranges) {
  return fmt::format("{} forth and {} back", range_text(ranges.least.forth, ranges.most.forth),
                     range_text(ranges.least.back, ranges.most.back));
}

std::string_view meaning_of(Model model) {
  switch (model) {
    case Model::unidirectional:
      return "one side always produces";
    case Model::alternating:
      return "one transfer each way";
    case Model::multiple:
      return "several transfers, the same counts every time";
    default:
      return "counts vary";
  }
}

struct Words {
  Model model;

  std::string operator()(const evidence::NoMessages&) const { return "no messages"; }
  std::string operator()(const evidence::TooFew& e) const {
    return fmt::format("{}; at least {} are needed", count_of(e.count, e.iterations ? "iteration" : "transfer"),
                       e.needed);
  }
  std::string operator()(const evidence::OneSideRecorded& e) const {
    return fmt::format(
        "messages of one side only, but the trace holds only {} of all records: those of the other side "
        "may be lost",
        format_percent(e.recorded));
  }
  std::string operator()(const evidence::OneWay& e) const {
    std::string text = fmt::format("{}: {} one way", meaning_of(model), count_of(e.main, "transfer"));
    text += e.other > 0 ? fmt::format(" and {} the other way", e.other) : ", none back";
    if (e.iterations > 0) {
      text += fmt::format("; {} of {}", count_of(e.iterations, "iteration"), ranges_text(e.ranges));
    }
    return text;
  }
  std::string operator()(const evidence::SameCounts& e) const {
    return fmt::format("{}: {} forth and {} back in {} of {}", meaning_of(model), e.usual.forth, e.usual.back,
                       format_percent(e.share), count_of(e.iterations, "iteration"));
  }
  std::string operator()(const evidence::Answers& e) const {
    return fmt::format(
        "{}: {} of the transfers answer the previous one, though {} exchanges have the same iteration number",
        meaning_of(model), format_percent(e.share), e.exchanges);
  }
  std::string operator()(const evidence::SeveralIterations& e) const {
    return fmt::format("{}: {} forth and {} back per {} iterations of the program, in {} of the iterations",
                       meaning_of(model), e.counts.forth, e.counts.back, e.length, format_percent(e.share));
  }
  std::string operator()(const evidence::Phases& e) const {
    return fmt::format("the counts change from one part of the run to another ({} per iteration)",
                       ranges_text(e.ranges));
  }
  std::string operator()(const evidence::VaryingCounts& e) const {
    return fmt::format(
        "direction and count vary: {} per iteration; only {} of {} have the most common counts ({} forth, {} back)",
        ranges_text(e.ranges), format_percent(e.share), count_of(e.iterations, "iteration"), e.usual.forth,
        e.usual.back);
  }
  std::string operator()(const evidence::Incomplete& e) const {
    const std::string counts = fmt::format(
        "at most {} forth and {} back per iteration; records are missing, and the trace holds {} and {} of these "
        "messages on average",
        e.most.forth, e.most.back, format_percent(e.forth_kept), format_percent(e.back_kept));
    switch (e.reading) {
      case evidence::Incomplete::Reading::constant:
        return fmt::format("{}, as far as the records show: {}", meaning_of(model), counts);
      case evidence::Incomplete::Reading::varying:
        return fmt::format("direction and count vary more than losses explain ({:.1f} times as much): {}", e.excess,
                           counts);
      case evidence::Incomplete::Reading::ambiguous:
        break;
    }
    return "losses or varying counts could explain the messages: " + counts;
  }
  std::string operator()(const evidence::NumbersPerTransfer& e) const {
    return fmt::format("{}: {} forth and {} back per {} iteration numbers, for {} of the transfers", meaning_of(model),
                       e.counts.forth, e.counts.back, e.length, format_percent(e.share));
  }
  std::string operator()(const evidence::Repetition& e) const {
    return fmt::format("{}: the shortest repetition has {} forth and {} back, in {} of {} stretches of messages",
                       meaning_of(model), e.counts.forth, e.counts.back, format_percent(e.share), e.stretches);
  }
  std::string operator()(const evidence::IrregularOrder& e) const {
    return fmt::format(
        "direction and count vary: no stretch of up to {} messages repeats, and the direction changes after {} to {} "
        "messages, {:.1f} on average",
        e.longest_tried, e.shortest_run, e.longest_run, e.mean_run);
  }
  std::string operator()(const evidence::NoRepetition& e) const {
    return fmt::format("{}no repetition in {}",
                       e.numbered ? "" : "the program's numbers do not separate iterations, and there is ",
                       count_of(e.transfers, "transfer"));
  }
  std::string operator()(const evidence::UnnumberedAndIncomplete&) const {
    return "the program's numbers do not separate iterations, and too many messages are missing to find iterations by "
           "order";
  }
};

}  // namespace

std::string_view model_name(Model model) {
  switch (model) {
    case Model::unidirectional:
      return "unidirectional";
    case Model::alternating:
      return "alternating";
    case Model::multiple:
      return "multiple";
    case Model::probabilistic:
      return "probabilistic";
    case Model::unknown:
      break;
  }
  return "unknown";
}

std::string_view pattern_name(Pattern pattern) {
  switch (pattern) {
    case Pattern::streaming:
      return "streaming";
    case Pattern::adjacent:
      return "adjacent";
    case Pattern::scatter_gather:
      return "scatter-gather";
    case Pattern::random:
      return "random";
    case Pattern::unknown:
      break;
  }
  return "unknown";
}

std::string rhythm_words(const Rhythm& rhythm) { return std::visit(Words{rhythm.model}, rhythm.evidence); }

}  // namespace wicprof::analyzer
