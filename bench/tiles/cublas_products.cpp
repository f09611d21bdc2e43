#include "bench/tiles/cublas_products.h"

#if defined(BENCH_HAVE_CUBLAS)
#include <cublas_v2.h>
#include <dlfcn.h>
#endif

#include <utility>

namespace wicprof::bench {

using sample::tiles::Bf16;
using sample::tiles::Layer;
using sample::tiles::MatrixPart;
using sample::tiles::NetworkChain;

#if defined(BENCH_HAVE_CUBLAS)

namespace {

// decltype cannot choose among cuBLAS's overloads.
using ProductFunction = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                       const void*, cudaDataType, int, const void*, cudaDataType, int, const void*,
                                       void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
using ProductsFunction = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                        const void*, const void*, cudaDataType, int, long long int, const void*,
                                        cudaDataType, int, long long int, const void*, void*, cudaDataType, int,
                                        long long int, int, cublasComputeType_t, cublasGemmAlgo_t);

}  // namespace

struct CublasProducts::Library {
  void* opened = nullptr;
  cublasHandle_t handle = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  ProductFunction* product = nullptr;
  ProductsFunction* products = nullptr;

  ~Library() {
    if (handle != nullptr) destroy(handle);
    if (opened != nullptr) dlclose(opened);
  }
};

namespace {

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

const Bf16* part_of(const NetworkChain& chain, const MatrixPart& part) {
  const std::size_t columns = chain.network().matrices[part.matrix].columns;
  return chain.matrix(part.matrix) + part.first_row * columns + part.first_column;
}

}  // namespace

wic::Result<std::unique_ptr<CublasProducts>> CublasProducts::open(const std::string& library, void* stream) {
  auto made = std::make_unique<Library>();
  made->opened = dlopen(library.c_str(), RTLD_NOW);
  if (made->opened == nullptr) return wic::unavailable("cuBLAS could not be opened: " + std::string(dlerror()));
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  if (!find(made->opened, "cublasCreate_v2", create) || !find(made->opened, "cublasSetStream_v2", set_stream) ||
      !find(made->opened, "cublasDestroy_v2", made->destroy) || !find(made->opened, "cublasGemmEx", made->product) ||
      !find(made->opened, "cublasGemmStridedBatchedEx", made->products)) {
    return wic::unavailable(library + " is not cuBLAS 12 or newer");
  }
  if (create(&made->handle) != CUBLAS_STATUS_SUCCESS) return wic::unavailable("cuBLAS could not be initialised");
  if (set_stream(made->handle, static_cast<cudaStream_t>(stream)) != CUBLAS_STATUS_SUCCESS) {
    return wic::unavailable("cuBLAS refused the stream");
  }
  return std::unique_ptr<CublasProducts>(new CublasProducts(std::move(made)));
}

wic::Result<> CublasProducts::launch(const NetworkChain& chain, std::size_t index) {
  const Layer& layer = chain.network().layers.at(index);
  const auto stride = [&](const MatrixPart& part) {
    return static_cast<int>(chain.network().matrices[part.matrix].columns);
  };
  const float scale = layer.scale, none = 0;
  // cuBLAS stores matrices by columns: it computes the transposed product.
  const auto rows = static_cast<int>(layer.size.rows), columns = static_cast<int>(layer.size.columns);
  const auto depth = static_cast<int>(layer.size.depth), heads = static_cast<int>(layer.size.heads);
  const cublasOperation_t right_as = layer.right_by_depth ? CUBLAS_OP_N : CUBLAS_OP_T;
  const Bf16* const right = part_of(chain, layer.right);
  const Bf16* const left = layer.image.channels != 0 ? left_ : part_of(chain, layer.left);
  const int left_stride = layer.image.channels != 0 ? depth : stride(layer.left);
  auto* const to = const_cast<Bf16*>(part_of(chain, layer.to));
  const cublasStatus_t status =
      heads == 1 ? library_->product(library_->handle, right_as, CUBLAS_OP_N, columns, rows, depth, &scale, right,
                                     CUDA_R_16BF, stride(layer.right), left, CUDA_R_16BF, left_stride, &none, to,
                                     CUDA_R_16BF, stride(layer.to), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT)
                 : library_->products(library_->handle, right_as, CUBLAS_OP_N, columns, rows, depth, &scale, right,
                                      CUDA_R_16BF, stride(layer.right), layer.right.head_columns, left, CUDA_R_16BF,
                                      left_stride, layer.left.head_columns, &none, to, CUDA_R_16BF, stride(layer.to),
                                      layer.to.head_columns, heads, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  if (status != CUBLAS_STATUS_SUCCESS) {
    return wic::failed("cuBLAS failed with status " + std::to_string(status) + " in " + chain.network().name + ", " +
                       layer.name);
  }
  return wic::ok();
}

#else

struct CublasProducts::Library {};

wic::Result<std::unique_ptr<CublasProducts>> CublasProducts::open(const std::string&, void*) {
  return wic::unavailable("built without cuBLAS");
}
wic::Result<> CublasProducts::launch(const NetworkChain&, std::size_t) { return wic::unavailable("no cuBLAS"); }

#endif

CublasProducts::CublasProducts(std::unique_ptr<Library> library) : library_(std::move(library)) {}
CublasProducts::~CublasProducts() = default;

}  // namespace wicprof::bench
