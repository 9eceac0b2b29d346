// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "device/device.hpp"
#include "device/emulation.hpp"

#ifdef __CUDACC__
#include "device/cuda_call.hpp"
#define TAILRACE_KERNEL __host__ __device__
#else
#define TAILRACE_KERNEL
#endif

/// Kernels: written once as functions of an index, compiled for the device and for its emulation on the host.
namespace tailrace::device {

#ifdef __CUDACC__
namespace detail {
template <class Kernel>
__global__ void for_each_index(std::int64_t count, Kernel kernel) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    kernel(i);
}
}  // namespace detail
#endif

/// Calls `kernel(i)` for all i in [0, count), in any order and at the same time, behind what the queue has.
/// Kernels are plain values without references to the host. Sources that call this are compiled as CUDA where
/// there is CUDA (`tailrace_device_sources`). @local. Errors (resource): the device refused.
template <class Kernel>
void launch(Queue& queue, std::int64_t count, const Kernel& kernel) {
  if (count <= 0) return;
  if (auto* const emulation = queue.emulation()) {
    emulation->enqueue([count, kernel] {
      for (std::int64_t i = 0; i < count; ++i) kernel(i);
    });
    return;
  }
#ifdef __CUDACC__
  constexpr std::int64_t threads = 256, max_blocks = 1 << 16;
  const auto blocks = std::min((count + threads - 1) / threads, max_blocks);
  detail::for_each_index<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0,
                           static_cast<cudaStream_t>(queue.native())>>>(count, kernel);
  check_cuda(cudaGetLastError(), "starting a kernel");
#else
  TAILRACE_CHECK(false, "kernels of a device are compiled for it");
#endif
}

}  // namespace tailrace::device
