#include "analyzer/communication/classify_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

std::string leaning_words(Model model, double confidence) {
  return fmt::format("model unknown: leans to {}, with a confidence of only {:.2f}", model_name(model), confidence);
}

std::string leaning_words(Pattern pattern, double confidence) {
  return fmt::format("pattern unknown: leans to {}, with a confidence of only {:.2f}", pattern_name(pattern),
                     confidence);
}

std::string pattern_words(Pattern pattern, std::string_view words) {
  const std::string_view name = pattern == Pattern::unknown ? "pattern unknown" : pattern_name(pattern);
  return fmt::format("{}: {}", name, words);
}

std::string block_pattern_words(const BlockPattern& found) {
  switch (found.pattern) {
    case Pattern::adjacent:
      return fmt::format("{} of {} signals release the next or previous block; the location of the data is unknown",
                         format_percent(found.share), found.signals);
    case Pattern::scatter_gather:
      return fmt::format(
          "{} of {} signals go to partners at {} distances, each a power of two; the location of the data is unknown",
          format_percent(found.share), found.signals, found.distances);
    default:
      return "the pattern follows from the locations of messages, and the trace holds no message records: signals do "
             "not say what they carry";
  }
}

std::string pairs_words(std::size_t pairs, std::size_t judged, std::size_t agreeing, double share, Model model) {
  const std::string busiest = pairs > judged ? fmt::format(" (only the busiest {} count)", judged) : std::string();
  return fmt::format("{} of parties communicate{}; {} of them, with {} of the messages: {}", count_of(pairs, "pair"),
                     busiest, agreeing, format_percent(share), model_name(model));
}

std::string ring_words(std::size_t parties, const Rhythm& first) {
  return fmt::format(
      "{} form a ring, in which each sends to one and receives from another; as seen by each device (forth: the "
      "messages that it sends): {}",
      count_of(parties, "device"), rhythm_words(first));
}

std::vector<std::string> record_words(const Traffic& traffic) {
  const LeftOut& out = traffic.left_out;
  std::vector<std::string> lines;
  if (out.acknowledgements > 0) {
    lines.push_back(fmt::format("not counted: {} at {} that only return buffer space to a producer",
                                count_of(out.acknowledgements, "signal"), count_of(out.acknowledging_sites, "site")));
  }
  if (out.bare > 0) {
    lines.push_back(
        fmt::format("not counted: {} that carry nothing, in a program whose other signals say what they "
                    "carry",
                    count_of(out.bare, "signal")));
  }
  if (out.unheard > 0) {
    lines.push_back(
        fmt::format("not counted: {} for which the trace shows no waiter", count_of(out.unheard, "signal")));
  }
  if (traffic.lost > 0) {
    lines.push_back(fmt::format("{} lost, which lowers the confidence", count_of(traffic.lost, "record")));
  }
  if (traffic.missing > 0) {
    lines.push_back(
        fmt::format("{} missing between others, which lowers the confidence", count_of(traffic.missing, "row")));
  }
  if (traffic.unmatched > 0) {
    lines.push_back(
        fmt::format("{} without a recorded signal, which lowers the confidence", count_of(traffic.unmatched, "wait")));
  }
  return lines;
}

std::string no_messages_words(const TraceModel& model, const Traffic& traffic) {
  const bool host =
      std::any_of(model.host_waits.begin(), model.host_waits.end(), [](const auto& w) { return !w.in_call(); });
  if (model.waits.empty() && !host) {
    return "the trace holds no waits at wait sites, so it does not show who waits for whom";
  }
  if (model.signals.empty()) return "the trace holds waits but no signals, so it does not show who released the waits";
  if (traffic.left_out.within > 0) {
    return "all parties signal and wait at the same sites, so the trace does not show two sides";
  }
  return "no recorded signal matches a recorded wait, so the trace does not show who released whom";
}

}  // namespace wicprof::analyzer
