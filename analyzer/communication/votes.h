// The program's answer from the answers of its pairs of parties.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace wicprof::analyzer {

/// Weighted answers; the last of five is `unknown`.
class Votes {
 public:
  void add(std::size_t answer, double weight, double confidence) {
    weight_[answer] += weight;
    confidence_[answer] += weight * confidence;
  }
  /// The answer with the most weight; `unknown` only without any other.
  std::size_t best() const {
    if (answered() == 0) return kUnknown;
    return static_cast<std::size_t>(std::max_element(weight_.begin(), weight_.end() - 1) - weight_.begin());
  }
  double share(std::size_t answer) const { return weight_[answer] / all(); }
  /// `strictly`: unless some records are missing, which makes single pairs look like another model.
  bool agree(bool strictly) const {
    return answered() >= kAnswered * all() &&
           weight_[best()] >= (strictly ? kAgreement : kAgreementInParts) * answered();
  }
  /// Pairs without an answer or with another one lower the confidence, and limit it: a program whose pairs differ has
  /// no class.
  double confidence() const {
    if (weight_[best()] == 0) return 0;
    const double confidence = confidence_[best()] / weight_[best()] * (0.5 + 0.5 * share(best()));
    return share(best()) >= kNearlyAll ? confidence : std::min(confidence, kMaxWithDissent);
  }

  /// Least share of the answered weight that the best answer needs; bench_classification_made judges it.
  static constexpr double kAgreement = 0.85, kAgreementInParts = 0.6;

 private:
  static constexpr std::size_t kUnknown = 4;
  /// Least share of the whole weight that needs an answer; bench_classification_made judges it.
  static constexpr double kAnswered = 0.25;
  /// The most that an answer is worth that fewer than these pairs, by weight, share; bench_classification_made judges
  /// it.
  static constexpr double kNearlyAll = 0.98, kMaxWithDissent = 0.75;

  double all() const { return std::accumulate(weight_.begin(), weight_.end(), 0.0); }
  double answered() const { return all() - weight_.back(); }

  std::array<double, kUnknown + 1> weight_{}, confidence_{};
};

}  // namespace wicprof::analyzer
