#include "tiles/network.h"

#include <cmath>

namespace sample::tiles {

namespace {

std::string numbers(std::initializer_list<std::pair<const char*, std::uint32_t>> all) {
  std::string text;
  for (const auto& [name, number] : all) text += std::string(text.empty() ? "" : ", ") + name + std::to_string(number);
  return text;
}

// So that sums of `depth` products with inputs of that size have a deviation of about 0.5.
float weight_scale(std::uint32_t depth, float input_deviation) {
  return 0.5f * 1.7f / (input_deviation * std::sqrt(static_cast<float>(depth)));
}

}  // namespace

Network feed_forward(std::uint32_t batch, std::uint32_t width, std::uint32_t hidden) {
  Network network{"mlp, " + numbers({{"batch ", batch}}), {}, {}};
  network.matrices = {{batch, width, 1},
                      {hidden, width, weight_scale(width, 0.58f)},
                      {batch, hidden},
                      {width, hidden, weight_scale(hidden, 0.35f)},
                      {batch, width}};
  Layer first{"first product"}, second{"second product"};
  first.size = {batch, hidden, width};
  first.left = {0};
  first.right = {1};
  first.to = {2};
  first.activation = Activation::gelu;
  second.size = {batch, width, hidden};
  second.left = {2};
  second.right = {3};
  second.to = {4};
  second.left_from = 0;
  network.layers = {first, second};
  return network;
}

Network attention(std::uint32_t batch, std::uint32_t keys, std::uint32_t width, std::uint32_t heads,
                  std::uint32_t head) {
  Network network{"attention, " + numbers({{"batch ", batch}, {"keys ", keys}}), {}, {}};
  const std::uint32_t inner = heads * head, before = keys - batch;
  network.matrices = {{batch, width, 1},       {3 * inner, width, weight_scale(width, 0.58f)},
                      {keys, 3 * inner, 0.8f},  // queries, keys and values side by side; the last rows are computed
                      {batch, heads * keys},   {batch, heads * keys},
                      {batch, inner},          {width, inner, weight_scale(inner, 0.1f)},
                      {batch, width}};
  Layer all{"queries, keys, values"}, scores{"scores"}, softmax{"softmax"}, values{"weighted values"}, output{"output"};
  all.size = {batch, 3 * inner, width};
  all.left = {0};
  all.right = {1};
  all.to = {2, before, 0};
  all.slices = 3;
  scores.per_head = true;
  scores.size = {batch, keys, head, heads};
  scores.left = {2, before, 0, head};
  scores.right = {2, 0, inner, head};
  scores.to = {3, 0, 0, keys};
  scores.scale = 1 / std::sqrt(static_cast<float>(head));
  scores.left_from = scores.right_from = 0;
  softmax.softmax = true;
  softmax.size = {batch, keys, 0, heads};
  softmax.left = {3, 0, 0, keys};
  softmax.to = {4, 0, 0, keys};
  softmax.left_from = 1;
  values.per_head = values.right_by_depth = true;
  values.size = {batch, head, keys, heads};
  values.left = {4, 0, 0, keys};
  values.right = {2, 0, 2 * inner, head};
  values.to = {5, 0, 0, head};
  values.left_from = 2;
  values.right_from = 0;
  values.right_comes_with_left = true;  // the scores' keys
  output.size = {batch, width, inner};
  output.left = {5};
  output.right = {6};
  output.to = {7};
  output.left_from = 3;
  network.layers = {all, scores, softmax, values, output};
  return network;
}

Network convolutions(std::uint32_t images, std::uint32_t side, std::uint32_t channels) {
  Network network{"convolutions, " + numbers({{"images ", images}, {"side ", side}, {"channels ", channels}}), {}, {}};
  const std::uint32_t pixels = images * side * side, depth = 9 * channels;
  network.matrices = {{pixels, channels, 1},
                      {channels, depth, weight_scale(depth, 0.58f)},
                      {pixels, channels},
                      {channels, depth, weight_scale(depth, 0.35f)},
                      {pixels, channels}};
  Layer first{"first convolution"}, second{"second convolution"};
  first.size = second.size = {pixels, channels, depth};
  first.image = second.image = {side, side, channels};
  first.activation = second.activation = Activation::relu;
  first.left = {0};
  first.right = {1};
  first.to = second.left = {2};
  second.right = {3};
  second.to = {4};
  second.left_from = 0;
  network.layers = {first, second};
  return network;
}

}  // namespace sample::tiles
