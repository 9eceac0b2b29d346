// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/device.hpp"

/// Fourier transforms by the own library of devices, which is loaded when the first one is planned. Emulated
/// devices have none: whoever transforms there has something else at hand.
namespace tailrace::device {

/// Describes where the values of arrays of one or two axes lie, in elements.
struct FftArrays {
  std::int64_t row = 0;       ///< from one row to the next, of arrays with two axes
  std::int64_t step = 1;      ///< from one value of a row to the next
  std::int64_t distance = 0;  ///< from one array to the next
};

/// Describes transforms of many arrays at once, unnormalised. Input and output may begin at one address.
struct FftConfig {
  enum class Kind { real_to_complex, complex_to_real, complex };
  Kind kind = Kind::complex;
  std::size_t real_bytes = sizeof(float);  ///< of a real number: 4 or 8
  int axes = 1;                            ///< 1, or 2
  std::array<std::int64_t, 2> extents{};   ///< of the real array; the last one is that of rows
  FftArrays in, out;
  std::int64_t count = 0;  ///< of arrays
};

class FftPlan {
 public:
  virtual ~FftPlan() = default;
  /// Memory of the device that `run` works with, which plans that take turns may share. @local
  [[nodiscard]] virtual std::size_t work_bytes() const noexcept = 0;
  virtual void use_work(void* memory) = 0;
  /// Behind what the queue has. `inverse` is looked at by complex transforms only. The input of
  /// a transform to real numbers is destroyed. Not to be called by several threads. @local. Errors
  /// (resource): the device refused.
  virtual void run(Queue& queue, void* in, void* out, bool inverse) = 0;
};

/// For the device of the calling thread. @local. Errors (resource): the library is not there, or refuses.
std::unique_ptr<FftPlan> plan_fft(const FftConfig& config);

}  // namespace tailrace::device
