// The program: a cube on the devices that is stepped repeatedly.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/slabs.h"
#include "g_stn/kernel.h"
#include "g_stn/reference.h"

namespace sample::stn {

class Heat : public App {
 public:
  static wic::Result<std::unique_ptr<Heat>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<Heat> program(new Heat(options));
    const std::uint32_t n = program->n_;
    if (n < kMinSide || n > kMaxSide) {
      return wic::bad_input("--size " + std::to_string(n) + ": choose 4 to 1024");
    }
    if (program->tiles_ > n) return wic::bad_input("more --tiles than a plane has rows; raise --size");
    SlabShape shape;
    shape.name = "stn";
    shape.unit = "planes";
    shape.units = n;
    shape.unit_words = std::size_t{kFields} * n * n;
    shape.min_units = 2;
    shape.tags = kFields * program->tiles_;
    shape.max_bytes = (n + program->tiles_ - 1) / program->tiles_ * n * static_cast<std::uint32_t>(sizeof(Cell));
    Step kernel;
    kernel.n = n;
    kernel.tiles = program->tiles_;
    auto slabs = Slabs<Step>::make(runtime, options, shape, kernel);
    if (!slabs) return slabs.error();
    program->slabs_ = *std::move(slabs);
    if (wic::Result<> written = program->slabs_->write(program->initial()); !written) return written.error();
    return wic::Result<std::unique_ptr<Heat>>(std::move(program));
  }

  wic::Result<> step(std::uint32_t) override { return slabs_->iterate(time_steps_); }
  wic::Result<> check() override { return check_by_replay(*this); }
  Traffic traffic() const override {
    const double both_ways = 2.0 * (slabs_->devices() - 1) * time_steps_;
    return {slabs_->messages() * time_steps_, both_ways * kFields * n_ * n_ * sizeof(Cell)};
  }
  std::string shape() const override {
    return "2 fields of " + std::to_string(n_) + "^3 cells in " + std::to_string(slabs_->devices()) + " slabs, " +
           std::to_string(time_steps_) + " time steps per step";
  }

  // For check_by_replay().
  std::uint32_t iterations() const { return slabs_->iterations(); }
  Words initial() const { return initial_cube(n_); }
  wic::Result<Words> gather() { return slabs_->gather(); }
  wic::Result<> iterate(std::uint32_t count) { return slabs_->iterate(count); }
  void advance(Words& cube, std::uint32_t count) const { step_cube(cube, n_, count); }
  std::string where(std::size_t i) const {
    const std::size_t row = i / n_, plane = row / n_;
    return std::string("field ") + (plane % kFields == 0 ? "a" : "b") + ", cell (" + std::to_string(i % n_) + ", " +
           std::to_string(row % n_) + ", " + std::to_string(plane / kFields) + ")";
  }

  Slabs<Step>& slabs() { return *slabs_; }

 private:
  static constexpr std::uint32_t kMinSide = 4, kMaxSide = 1024;

  explicit Heat(const AppOptions& options)
      : n_(options.size != 0 ? options.size
           : options.on_gpu  ? 512
                             : 24),
        time_steps_(options.number("time-steps")),
        tiles_(options.number("tiles") != 0 ? options.number("tiles")
               : options.on_gpu             ? 8
                                            : 2) {}

  std::uint32_t n_;
  std::uint32_t time_steps_;
  std::uint32_t tiles_;
  std::unique_ptr<Slabs<Step>> slabs_;
};

}  // namespace sample::stn
