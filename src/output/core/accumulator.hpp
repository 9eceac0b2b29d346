// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/aligned.hpp"
#include "output/core/plan.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::output {

/// The running reduction of one share over time: minimum and maximum in the share's element type, sums in
/// double precision.
class Accumulator {
 public:
  /// `reduction` is min, max, rms or mean. Memory is allocated and set here.
  Accumulator(const Share& share, Reduction reduction);

  /// Takes one sample. @local
  void add(const FieldView& field, const Box& own);
  /// Puts the results of `count` values from number `first` on into `out`, in the share's element type: over
  /// the `samples` samples taken. @local
  void result(std::int64_t samples, std::int64_t first, std::int64_t count, std::span<std::byte> out) const;
  /// The same for what is here: extremes so far, sums, sums of squares. @local
  void unfinished(std::int64_t first, std::int64_t count, std::span<std::byte> out) const;

  /// All that is known of the reduction, to be kept and put back: its values, of `state_type`. @local
  [[nodiscard]] std::span<std::byte> state() noexcept;
  [[nodiscard]] static h5::ElementType state_type(const Share& share, Reduction reduction) noexcept;

  [[nodiscard]] const Share& share() const noexcept { return *share_; }
  [[nodiscard]] static std::int64_t bytes(const Share& share, Reduction reduction) noexcept;

 private:
  const Share* share_;
  Reduction reduction_;
  std::variant<AlignedVector<float>, AlignedVector<double>> values_;
};

}  // namespace tailrace::output
