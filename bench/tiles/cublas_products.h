// The products of a network by cuBLAS, one after the other: what stands beside the tiles. The library is opened at run
// time.
#pragma once

#include <memory>
#include <string>

#include "tiles/network_chain.h"

namespace wicprof::bench {

class CublasProducts {
 public:
  /// `stream`: a cudaStream_t. Errors: no such library; built without its headers.
  static wic::Result<std::unique_ptr<CublasProducts>> open(const std::string& library, void* stream);
  ~CublasProducts();

  /// Queues a layer's product. Of a convolution: a product of the same size, whose left factor is a matrix that is
  /// there already. Not for a softmax. No activations. Overwrites the layer's result.
  wic::Result<> launch(const sample::tiles::NetworkChain& chain, std::size_t layer);
  /// Device memory for the left factor of convolutions; must hold the largest one.
  void use_for_convolutions(const sample::tiles::Bf16* left) { left_ = left; }

 private:
  struct Library;
  explicit CublasProducts(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
  const sample::tiles::Bf16* left_ = nullptr;
};

}  // namespace wicprof::bench
