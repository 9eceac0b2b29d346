// SPDX-License-Identifier: BSD-3-Clause
#include <cufft.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/check.hpp"
#include "device/fft.hpp"
#include "tailrace/error.hpp"

namespace tailrace::device {

namespace {

/// cuFFT, loaded when it is needed: programs start without it, and compute on the processor.
class Library {
 public:
  decltype(&cufftCreate) create;
  decltype(&cufftDestroy) destroy;
  decltype(&cufftSetAutoAllocation) set_auto_allocation;
  decltype(&cufftSetWorkArea) set_work_area;
  decltype(&cufftSetStream) set_stream;
  decltype(&cufftMakePlanMany64) make_plan;
  decltype(&cufftExecR2C) real_to_complex;
  decltype(&cufftExecC2R) complex_to_real;
  decltype(&cufftExecC2C) complex;
  decltype(&cufftExecD2Z) real_to_complex_double;
  decltype(&cufftExecZ2D) complex_to_real_double;
  decltype(&cufftExecZ2Z) complex_double;

  static const Library& get() {
    static const Library library;
    return library;
  }

 private:
  Library() {
    void* const handle = open();
    find(handle, "cufftCreate", create);
    find(handle, "cufftDestroy", destroy);
    find(handle, "cufftSetAutoAllocation", set_auto_allocation);
    find(handle, "cufftSetWorkArea", set_work_area);
    find(handle, "cufftSetStream", set_stream);
    find(handle, "cufftMakePlanMany64", make_plan);
    find(handle, "cufftExecR2C", real_to_complex);
    find(handle, "cufftExecC2R", complex_to_real);
    find(handle, "cufftExecC2C", complex);
    find(handle, "cufftExecD2Z", real_to_complex_double);
    find(handle, "cufftExecZ2D", complex_to_real_double);
    find(handle, "cufftExecZ2Z", complex_double);
  }

  static void* open() {
    const std::string name = fmt::format("libcufft.so.{}", CUFFT_VER_MAJOR);
    for (const auto& path : {name, std::string(TAILRACE_CUDA_LIBRARIES "/") + name})
      if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    throw Error(
        ErrorInfo{.kind = ErrorKind::resource,
                  .message = fmt::format("cuFFT cannot be loaded: {}", dlerror()),
                  .path = {},
                  .hint = fmt::format("the directory of {} in LD_LIBRARY_PATH, or --device none", name)});
  }
  template <class Function>
  static void find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr)
      throw Error(ErrorKind::resource, fmt::format("cuFFT cannot be used: it has no {}", name));
  }
};

void check(cufftResult answer, const char* doing) {
  if (answer == CUFFT_SUCCESS) return;
  throw Error(ErrorKind::resource,
              fmt::format("the device failed in {}: cuFFT says {}", doing, static_cast<int>(answer)));
}

cufftType type_of(const FftConfig& config) {
  const bool single = config.real_bytes == sizeof(float);
  switch (config.kind) {
    case FftConfig::Kind::real_to_complex:
      return single ? CUFFT_R2C : CUFFT_D2Z;
    case FftConfig::Kind::complex_to_real:
      return single ? CUFFT_C2R : CUFFT_Z2D;
    case FftConfig::Kind::complex:
      break;
  }
  return single ? CUFFT_C2C : CUFFT_Z2Z;
}

class CudaFft final : public FftPlan {
 public:
  explicit CudaFft(const FftConfig& config) : type_(type_of(config)) {
    check(library_.create(&plan_), "planning a transform");
    try {
      make(config);
    } catch (...) {
      library_.destroy(plan_);
      throw;
    }
  }
  ~CudaFft() override { library_.destroy(plan_); }
  CudaFft(const CudaFft&) = delete;
  CudaFft& operator=(const CudaFft&) = delete;

  [[nodiscard]] std::size_t work_bytes() const noexcept override { return work_bytes_; }
  void use_work(void* memory) override {
    check(library_.set_work_area(plan_, memory), "planning a transform");
  }
  void run(Queue& queue, void* in, void* out, bool inverse) override {
    check(library_.set_stream(plan_, static_cast<cudaStream_t>(queue.native())), "a transform");
    check(execute(in, out, inverse ? CUFFT_INVERSE : CUFFT_FORWARD), "a transform");
  }

 private:
  void make(const FftConfig& config) {
    const auto first = static_cast<std::size_t>(2 - config.axes);
    std::array<long long, 2> extents{}, in{}, out{};
    for (std::size_t axis = first; axis < 2; ++axis) extents[axis] = config.extents[axis];
    in = {extents[0], config.in.row};
    out = {extents[0], config.out.row};
    check(library_.set_auto_allocation(plan_, 0), "planning a transform");
    check(library_.make_plan(plan_, config.axes, &extents[first], &in[first], config.in.step,
                             config.in.distance, &out[first], config.out.step, config.out.distance, type_,
                             config.count, &work_bytes_),
          "planning a transform");
  }
  cufftResult execute(void* in, void* out, int direction) const {
    switch (type_) {
      case CUFFT_R2C:
        return library_.real_to_complex(plan_, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out));
      case CUFFT_C2R:
        return library_.complex_to_real(plan_, static_cast<cufftComplex*>(in), static_cast<cufftReal*>(out));
      case CUFFT_C2C:
        return library_.complex(plan_, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out),
                                direction);
      case CUFFT_D2Z:
        return library_.real_to_complex_double(plan_, static_cast<cufftDoubleReal*>(in),
                                               static_cast<cufftDoubleComplex*>(out));
      case CUFFT_Z2D:
        return library_.complex_to_real_double(plan_, static_cast<cufftDoubleComplex*>(in),
                                               static_cast<cufftDoubleReal*>(out));
      case CUFFT_Z2Z:
        break;
    }
    return library_.complex_double(plan_, static_cast<cufftDoubleComplex*>(in),
                                   static_cast<cufftDoubleComplex*>(out), direction);
  }

  const Library& library_ = Library::get();
  cufftType type_;
  cufftHandle plan_ = 0;
  std::size_t work_bytes_ = 0;
};

}  // namespace

std::unique_ptr<FftPlan> plan_fft(const FftConfig& config) {
  TAILRACE_CHECK(config.axes == 1 || config.axes == 2, "transforms have one or two axes");
  return std::make_unique<CudaFft>(config);
}

}  // namespace tailrace::device
