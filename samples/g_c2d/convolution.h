// The program: an image on the devices that is filtered repeatedly.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/slabs.h"
#include "g_c2d/kernel.h"
#include "g_c2d/reference.h"

namespace sample::c2d {

class Convolution : public App {
 public:
  static wic::Result<std::unique_ptr<Convolution>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<Convolution> program(new Convolution(options));
    const std::uint32_t side = program->side_;
    if (side < 2 * kReach || side > kMaxSide) {
      return wic::bad_input("--size " + std::to_string(side) + ": choose 4 to 65536");
    }
    SlabShape shape;
    shape.name = "c2d";
    shape.units = side;
    shape.unit_words = side;
    shape.min_units = 2 * kReach;
    shape.max_bytes = kReach * side * static_cast<std::uint32_t>(sizeof(Pixel));
    Filter kernel;
    kernel.width = side;
    auto bands = Slabs<Filter>::make(runtime, options, shape, kernel);
    if (!bands) return bands.error();
    program->bands_ = *std::move(bands);
    if (wic::Result<> written = program->bands_->write(program->initial()); !written) return written.error();
    return wic::Result<std::unique_ptr<Convolution>>(std::move(program));
  }

  wic::Result<> step(std::uint32_t) override { return bands_->iterate(filters_); }
  wic::Result<> check() override { return check_by_replay(*this); }
  Traffic traffic() const override {
    const double messages = bands_->messages() * filters_;
    return {messages, messages * kReach * side_ * sizeof(Pixel)};
  }
  std::string shape() const override {
    return std::to_string(side_) + " x " + std::to_string(side_) + " pixels in " + std::to_string(bands_->devices()) +
           " bands, " + std::to_string(filters_) + " filter passes per step";
  }

  // For check_by_replay().
  std::uint32_t iterations() const { return bands_->iterations(); }
  Words initial() const { return initial_image(side_); }
  wic::Result<Words> gather() { return bands_->gather(); }
  wic::Result<> iterate(std::uint32_t count) { return bands_->iterate(count); }
  void advance(Words& image, std::uint32_t count) const { filter_image(image, side_, count); }
  std::string where(std::size_t i) const {
    return "row " + std::to_string(i / side_) + ", column " + std::to_string(i % side_);
  }

  Slabs<Filter>& bands() { return *bands_; }

 private:
  static constexpr std::uint32_t kMaxSide = 65'536;

  explicit Convolution(const AppOptions& options)
      : side_(options.size != 0 ? options.size
              : options.on_gpu  ? 16'384
                                : 128),
        filters_(options.number("filters")) {}

  std::uint32_t side_;
  std::uint32_t filters_;
  std::unique_ptr<Slabs<Filter>> bands_;
};

}  // namespace sample::c2d
