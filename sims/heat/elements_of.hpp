// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "batch_mortars.hpp"
#include "elements.hpp"
#include "transfer.hpp"

namespace tailrace::heat {

/// Elements with polynomials of an order.
template <int order>
class ElementsOf final : public Elements {
 public:
  using Elements::Elements;

  [[nodiscard]] double integral() override;
  [[nodiscard]] std::vector<double> values(std::size_t element) const override;
  void set_values(std::size_t element, std::span<const double> values) noexcept override;
  [[nodiscard]] Sent send_to(const Forest& next) override;
  void receive() override;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept override;

 private:
  void remake_fields() override;
  void count_in_averages(std::size_t batch) override;
  void add_to_diagonal(std::size_t batch) override;
  void convect_batch(std::size_t batch) override;
  [[nodiscard]] double start_residual() override;
  [[nodiscard]] double apply_to_direction(double keep) override;
  [[nodiscard]] double follow_direction(double length) override;
  void add_correction() override;

  [[nodiscard]] ElementValues<order> copy_of(std::size_t element) const noexcept;
  [[nodiscard]] bool fill_source(std::size_t batch, const Ball& ball, Whole<order>& source) const;
  void clear_boundary(std::size_t batch, Whole<order>& change) const;

  BatchMortars<order> batch_mortars_;
  std::optional<Transfer<order>> transfer_;  ///< while the mesh changes
  AlignedVector<Whole<order>> field_, residual_;
  AlignedVector<Inner<order>> inverse_, inner_residual_, direction_, product_, correction_;
};

}  // namespace tailrace::heat
