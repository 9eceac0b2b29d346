// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "output/core/writer.hpp"

namespace tailrace::output {

/// The extents of the file that jobs fill, one after the other in the order of the file: samples of several
/// steps, and of several ranks, that touch there follow each other.
class Extents {
 public:
  /// What the views refer to outlives this.
  explicit Extents(std::span<const JobView> jobs);

  /// The next extent, nothing after the last.
  std::optional<Extent> next();
  /// Returns what is to be done if the extent that `next` returned last cannot be written.
  [[nodiscard]] OnFailure policy() const noexcept { return policy_; }

 private:
  /// A staged extent on its way into the file, one run after the other.
  class Cursor {
   public:
    Cursor(const StagedExtent& staged_extent, const Share& share, std::span<const std::byte> bytes);

    [[nodiscard]] bool done() const noexcept { return left_ == 0; }
    [[nodiscard]] OnFailure policy() const noexcept { return share_->on_failure; }
    /// Returns where it is in the file, in the order of the sink.
    [[nodiscard]] std::pair<std::size_t, std::int64_t> place() const noexcept;
    /// The rest of its run, behind which it is then.
    Extent take() noexcept;

   private:
    [[nodiscard]] const Run& run() const noexcept { return share_->runs[run_]; }
    [[nodiscard]] std::int64_t element_bytes() const noexcept;

    const Share* share_;
    const std::byte* next_;
    std::int64_t sample_start_, skip_, left_;
    std::size_t run_ = 0;
  };
  static_assert(sizeof(Cursor) <= write_bytes_per_staged_extent);

  static bool later(const Cursor& a, const Cursor& b) noexcept { return b.place() < a.place(); }
  void choose();

  std::vector<Cursor> heap_;  ///< the last one is in use, the others are a heap with the first place on top
  OnFailure policy_ = OnFailure::stop;
};

}  // namespace tailrace::output
