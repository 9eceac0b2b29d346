// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "device/launch.hpp"

/// Kernels whose threads work together in blocks, through memory that a block shares: written once, compiled
/// for the device and for its emulation on the host.
///
/// Such a kernel is a plain value with
///
///     static constexpr int threads;                       // of a block
///     struct Shared;                                      // what they share, a plain value
///     struct Thread;                                      // what each thread keeps to itself, a plain value
///     template <class Block>
///     TAILRACE_KERNEL void operator()(Block& block) const;
///
/// `block.number()` counts the blocks, `block.shared()` is their memory, and
/// `block.each([&](int thread, Thread& own) {...})` has each thread do something, and all wait until all have
/// done it. Outside of `each` a kernel only counts: it computes the same on all threads.
namespace tailrace::device {

namespace detail {

/// A block on the host: its threads take turns.
template <class Kernel>
class HostBlock {
 public:
  void begin(std::int64_t number) noexcept {
    number_ = number;
    for (auto& thread : threads_) thread = {};
  }
  TAILRACE_KERNEL std::int64_t number() const { return number_; }
  TAILRACE_KERNEL typename Kernel::Shared& shared() { return shared_; }
  template <class F>
  TAILRACE_KERNEL void each(const F& work) {
    for (int thread = 0; thread < Kernel::threads; ++thread) work(thread, threads_[thread]);
  }

 private:
  std::int64_t number_ = 0;
  typename Kernel::Shared shared_;
  typename Kernel::Thread threads_[Kernel::threads];  // NOLINT: kernels have plain arrays
};

#ifdef __CUDACC__
template <class Kernel>
class DeviceBlock {
 public:
  __device__ explicit DeviceBlock(typename Kernel::Shared& shared) : shared_(shared) {}
  TAILRACE_KERNEL std::int64_t number() const {
#ifdef __CUDA_ARCH__
    return blockIdx.x;
#else
    return 0;
#endif
  }
  TAILRACE_KERNEL typename Kernel::Shared& shared() {
    return shared_;
  }
  template <class F>
  TAILRACE_KERNEL void each(const F& work) {
#ifdef __CUDA_ARCH__
    work(static_cast<int>(threadIdx.x), own_);
    __syncthreads();
#endif
  }

 private:
  typename Kernel::Shared& shared_;
  typename Kernel::Thread own_{};
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads) run_block(const Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  DeviceBlock<Kernel> block(shared);
  kernel(block);
}
#endif

}  // namespace detail

/// Runs so many blocks, in any order and at the same time, behind what the queue has. As `launch` otherwise.
/// @local. Errors (resource): the device refused.
template <class Kernel>
void launch_blocks(Queue& queue, std::int64_t blocks, const Kernel& kernel) {
  if (blocks <= 0) return;
  TAILRACE_CHECK(blocks <= std::numeric_limits<std::int32_t>::max(), "a launch has at most 2^31 - 1 blocks");
  if (auto* const emulation = queue.emulation()) {
    emulation->enqueue([blocks, kernel] {
      const auto block = std::make_unique<detail::HostBlock<Kernel>>();
      for (std::int64_t i = 0; i < blocks; ++i) {
        block->begin(i);
        kernel(*block);
      }
    });
    return;
  }
#ifdef __CUDACC__
  detail::run_block<<<static_cast<unsigned>(blocks), Kernel::threads, 0,
                      static_cast<cudaStream_t>(queue.native())>>>(kernel);
  check_cuda(cudaGetLastError(), "starting a kernel");
#else
  TAILRACE_CHECK(false, "kernels of a device are compiled for it");
#endif
}

}  // namespace tailrace::device
