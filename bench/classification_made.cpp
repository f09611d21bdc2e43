// How often the classification is right for programs that the analyzer has never seen: made programs, drawn from seeds
// (tests/analyzer/made_programs). Half of their kinds served to improve the analyzer; the other half only judges it.
// Rows: how many answers are right, unknown and wrong, how many answers with a confidence are right (reliability), and
// confusion matrices. --made algorithms: made programs that communicate as well-known algorithms do, in place of
// kinds drawn from a seed. --list improve names the programs of that half with a wrong answer or none; the other half
// has no such list. bench/draw_classification.py draws the rows.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "analyzer/communication/classify.h"
#include "analyzer/waits/matching.h"
#include "bench/claim.h"
#include "tests/analyzer/made_programs/algorithms.h"
#include "tests/analyzer/made_programs/made_program.h"

namespace {

using namespace wicprof;
using namespace wicprof::analyzer;

constexpr std::int64_t kPrograms = 12'000;
/// Bins of the confidence, from 0.5, below which the analyzer gives no answer, to 1.
constexpr std::size_t kBins = 10;
constexpr std::size_t kMinInBin = 200;
/// No answer with a higher confidence may be wrong.
constexpr double kSure = 0.8;
constexpr double kAnsweredAndRight = 0.8;

std::size_t bin_of(double confidence) {
  const double from = (confidence - kMinConfidence) / (1 - kMinConfidence);
  return std::min(kBins - 1, static_cast<std::size_t>(std::max(0.0, from) * static_cast<double>(kBins)));
}

struct Bin {
  std::size_t answers = 0, right = 0;
  double confidence = 0;  // sum
};

/// The answers to one question, of one half.
struct Tally {
  std::size_t asked = 0, right = 0, unknown = 0, wrong = 0, wrong_and_sure = 0;
  std::size_t undecidable = 0, wrong_undecidable = 0;  ///< where `unknown` is the right answer
  std::array<Bin, kBins> bins;
  std::map<std::pair<std::string, std::string>, std::size_t> confusion, confusion_of_sure;

  void add(const std::string& truth, const std::string& said, double confidence, bool decidable) {
    const bool good = said == truth;  // a lucky guess is right too
    if (decidable) {
      ++asked;
      ++confusion[{truth, said}];
      ++(said == "unknown" ? unknown : good ? right : wrong);
    } else {
      ++undecidable;
    }
    if (said == "unknown") return;
    if (!decidable && !good) ++wrong_undecidable;
    if (!good && confidence > kSure) {
      ++wrong_and_sure;
      ++confusion_of_sure[{truth, said}];
    }
    Bin& bin = bins[bin_of(confidence)];
    ++bin.answers;
    bin.right += good ? 1 : 0;
    bin.confidence += confidence;
  }
};

void add_rows(bench::Claim& claim, const std::string& half, const std::string& question, const Tally& t) {
  const auto row = [&](const std::string& name, std::size_t value, std::size_t of, std::optional<double> bar,
                       bool at_most = false) {
    bench::ClaimRow r{half + "_" + question + "_" + name,
                      {{"half", half}, {"question", question}},
                      static_cast<double>(value),
                      "answers"};
    r.compared_to = "all questions that the records can answer";
    if (of > 0) r.ratio = static_cast<double>(value) / static_cast<double>(of);
    r.bar = bar;
    r.at_most = at_most;
    claim.add(r);
  };
  const bool judged = half == "judge";
  row("right", t.right, t.asked, judged ? std::optional(kAnsweredAndRight) : std::nullopt);
  row("unknown", t.unknown, t.asked, std::nullopt);
  row("wrong", t.wrong, t.asked, std::nullopt);
  row("wrong_where_unknown_is_right", t.wrong_undecidable, t.undecidable, std::nullopt);
  row("wrong_and_sure", t.wrong_and_sure, t.asked, 0, true);
  for (std::size_t b = 0; b < kBins; ++b) {
    const Bin& bin = t.bins[b];
    if (bin.answers == 0) continue;
    const double mean = bin.confidence / static_cast<double>(bin.answers);
    bench::ClaimRow r{"reliability",
                      {{"half", half},
                       {"question", question},
                       {"bin", static_cast<std::int64_t>(b)},
                       {"answers", static_cast<std::int64_t>(bin.answers)},
                       {"mean_confidence", mean}},
                      static_cast<double>(bin.right),
                      "answers"};
    r.compared_to = "all answers of the bin";
    r.ratio = static_cast<double>(bin.right) / static_cast<double>(bin.answers);
    if (bin.answers >= kMinInBin) r.bar = mean;
    claim.add(r);
  }
  const auto add_confusion = [&](const char* name, const auto& confusion) {
    for (const auto& [pair, count] : confusion) {
      claim.add({name,
                 {{"half", half}, {"question", question}, {"truth", pair.first}, {"answer", pair.second}},
                 static_cast<double>(count),
                 "answers"});
    }
  };
  add_confusion("confusion", t.confusion);
  add_confusion("wrong_and_sure_confusion", t.confusion_of_sure);
}

struct Drawn {
  made::MadeProgram program;
  bool improve = false;
  std::string name;
};

Drawn draw_program(bool algorithms, std::uint64_t seed) {
  if (!algorithms) {
    made::MadeProgram program = made::make_program(seed);
    const bool improve = made::half_of(program.plan.kind) == made::Half::improve;
    std::string name = program.plan.kind.name();
    return {std::move(program), improve, std::move(name)};
  }
  made::KnownProgram known = made::make_known_program(seed);
  std::string name = std::string(made::kAlgorithms[known.algorithm]) + ": " + known.program.plan.kind.name();
  return {std::move(known.program), known.half == made::Half::improve, std::move(name)};
}

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("classification_made", "how often the classification of made programs is right", argc, argv);
  const std::int64_t programs = claim.option("programs", kPrograms);
  const std::int64_t first = claim.option("first", 1);
  const std::string list = claim.option("list", std::string("none"));
  const bool algorithms = claim.option("made", std::string("kinds")) == "algorithms";
  std::map<std::pair<std::string, std::string>, Tally> tallies;
  for (std::int64_t seed = first; seed < first + programs; ++seed) {
    const Drawn drawn = draw_program(algorithms, static_cast<std::uint64_t>(seed));
    const made::MadeProgram& program = drawn.program;
    const Classification said = classify(program.trace, match(program.trace));
    const made::Plan& plan = program.plan;
    const bool improve = drawn.improve;
    const std::string half = improve ? "improve" : "judge";
    const std::string model(model_name(plan.model)), pattern(pattern_name(plan.pattern));
    const std::string said_model(model_name(said.model)), said_pattern(pattern_name(said.pattern));
    tallies[{half, "model"}].add(model, said_model, said.model_confidence, plan.model != Model::unknown);
    tallies[{half, "pattern"}].add(pattern, said_pattern, said.pattern_confidence, plan.pattern_shown);
    if (!improve || list != "improve") continue;
    const bool model_good = said.model == plan.model;
    const bool pattern_good = said.pattern == plan.pattern || (!plan.pattern_shown && said.pattern == Pattern::unknown);
    if (!model_good)
      std::fprintf(stderr, "%ld\tmodel\t%s\t%s\t%.2f\t%s\n", static_cast<long>(seed), model.c_str(), said_model.c_str(),
                   said.model_confidence, drawn.name.c_str());
    if (!pattern_good)
      std::fprintf(stderr, "%ld\tpattern\t%s\t%s\t%.2f\t%s\n", static_cast<long>(seed), pattern.c_str(),
                   said_pattern.c_str(), said.pattern_confidence, drawn.name.c_str());
    if (programs > 1) continue;
    for (const std::string& line : said.evidence) std::fprintf(stderr, "  %s\n", line.c_str());
    for (const PairAnswer& pair : said.pairs) {
      std::fprintf(stderr, "  %s to %s: %s %.2f, %s %.2f\n", pair.first.c_str(), pair.second.c_str(),
                   model_name(pair.model).data(), pair.model_confidence, pattern_name(pair.pattern).data(),
                   pair.pattern_confidence);
      for (const std::string& line : pair.evidence) std::fprintf(stderr, "    %s\n", line.c_str());
    }
  }
  for (const auto& [key, tally] : tallies) add_rows(claim, key.first, key.second, tally);
  return claim.write();
}
