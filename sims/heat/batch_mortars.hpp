// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "batch.hpp"
#include "boundary.hpp"
#include "mortars.hpp"
#include "pattern.hpp"

namespace tailrace::heat {

/// The way between mortar values and the boundary points of the elements of a batch (the operators Q of the
/// method, and their transposes).
template <int order>
class BatchMortars {
 public:
  /// `mortars`, which outlives this, has a new mesh of so many elements. @local
  void rebuild(const Mortars& mortars, std::size_t elements);

  /// Sets the boundary points of a batch from mortar values. @local
  void read(std::size_t batch, const double* mortar_values, Whole<order>& into) const;
  /// The transpose: what the boundary points contribute to each position. @local
  void write(std::size_t batch, const Whole<order>& from, double* contributions) const;
  /// What the boundary points contribute to an average over elements. @local
  void write_averages(std::size_t batch, const Whole<order>& from, double* contributions) const;
  /// How an element's points follow from its positions. @local
  [[nodiscard]] const Pattern<order>& pattern_of(std::size_t element) const noexcept {
    return *patterns_of_[element];
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return slots_.capacity() * sizeof slots_[0] + ways_.capacity() +
           patterns_of_.capacity() * sizeof patterns_of_[0];
  }

 private:
  /// The slots at which the points of a vertex, edge or face begin that is not split, for each lane.
  struct Slots {
    std::int32_t of[entities_of_element][batch_elements] = {};
  };
  /// The element in a lane: the last one of all in those behind it.
  [[nodiscard]] std::size_t element_in(std::size_t batch, std::size_t lane) const noexcept {
    return std::min(batch * batch_elements + lane, elements_ - 1);
  }
  template <class Spread>
  void write_by(std::size_t batch, const Whole<order>& from, double* contributions, Spread spread) const;

  /// How an element finds its values.
  enum class Way : std::uint8_t {
    direct,     ///< each vertex, edge and face has its points one behind the other
    projected,  ///< the same, but some are split
    single,     ///< point by point
  };
  [[nodiscard]] Way way_of(std::size_t element) const;

  const Mortars* mortars_ = nullptr;
  std::size_t elements_ = 0;
  Patterns<order> patterns_;
  std::vector<const Pattern<order>*> patterns_of_;  ///< of each element
  std::vector<Slots> slots_;
  std::vector<Way> ways_;  ///< of each element
};

}  // namespace tailrace::heat
