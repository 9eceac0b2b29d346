// SPDX-License-Identifier: BSD-3-Clause
#include "cube.hpp"

#include <fmt/format.h>

#include "selection.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

/// Sets the rows of a box; every number is exact in double precision.
template <class Real>
void set_rows(AlignedVector<Real>& values, const Formula& formula, const Box& box, StepIndex step) noexcept {
  const Index3 n = box.extents();
#pragma omp parallel for
  for (std::int64_t row = 0; row < n.y * n.z; ++row) {
    const Index3 first{box.lo.x, box.lo.y + row % n.y, box.lo.z + row / n.y};
    const auto start = static_cast<double>(formula.exact(first, step));
    Real* const out = values.data() + row * n.x;
    for (std::int64_t x = 0; x < n.x; ++x) out[x] = static_cast<Real>(start + static_cast<double>(x));
  }
}

/// The rows of a box: the number of each point, and its value.
template <class Real>
void list_rows(std::vector<Real>& rows, const Formula& formula, const Box& box, StepIndex step) {
  rows.clear();
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z)
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y)
      for (std::int64_t x = box.lo.x; x < box.hi.x; ++x) {
        const std::int64_t number = formula.number({x, y, z});
        if (!Formula::is_row(number, step)) continue;
        rows.push_back(static_cast<Real>(number));
        rows.push_back(static_cast<Real>(formula.value({x, y, z}, step)));
      }
}

}  // namespace

Cube::Cube(mpi::CommView comm, const Formula& formula, const Box& own_box, h5::ElementType row_type,
           Load& load, Particles* particles, trace::Log& log)
    : comm_(comm), formula_(formula), own_box_(own_box), load_(load), particles_(particles), log_(log) {
  const auto count = static_cast<std::size_t>(own_box.volume());
  if (formula.type == h5::ElementType::float32)
    values_ = AlignedVector<float>(count);
  else
    values_ = AlignedVector<double>(count);
  if (row_type == h5::ElementType::float64) rows_ = std::vector<double>();
  set_field(0);
}

void Cube::set_field(StepIndex step) noexcept {
  step_ = step;
  if (own_box_.empty()) return;
  std::visit([&](auto& values) { set_rows(values, formula_, own_box_, step); }, values_);
}

void Cube::advance(StepIndex step) {
  load_.step();
  set_field(step);
  if (comm_.size() == 1 && particles_ == nullptr) return;
  const trace::Scope scope(log_, trace::Kind::exchange, step);
  if (particles_ != nullptr) particles_->advance();
  mpi::sum(comm_, load_.check());
}

output::FieldView Cube::field(const std::string&) const {
  const Index3 n = own_box_.extents();
  const void* data = std::visit([](const auto& values) -> const void* { return values.data(); }, values_);
  return {.data = data, .type = formula_.type, .box = own_box_, .stride_y = n.x, .stride_z = n.x * n.y};
}

output::RowsView Cube::rows(const std::string&) {
  return std::visit(
      [&](auto& list) -> output::RowsView {
        list_rows(list, formula_, own_box_, step_);
        return {.data = list.data(), .count = static_cast<std::int64_t>(list.size()) / row_components};
      },
      rows_);
}

void Cube::state(checkpoint::StateArchive& archive) {
  const Index3 n = own_box_.extents();
  void* const data = std::visit([](auto& values) -> void* { return values.data(); }, values_);
  archive.component("cube", 1, [&](int) {
    archive.field("value", {.data = data,
                            .type = formula_.type,
                            .domain = formula_.cells,
                            .box = own_box_,
                            .stride_y = n.x,
                            .stride_z = n.x * n.y});
  });
  if (particles_ == nullptr) return;
  archive.component("particles", 1, [&](int) { archive.rows("all", *particles_); });
}

void Cube::restored(StepIndex step) {
  step_ = step;
  if (particles_ == nullptr) return;
  particles_->end_restore();
  const auto verdict = particles_->compare(step);
  if (!verdict.good())
    throw Error(ErrorInfo{
        .kind = ErrorKind::input,
        .message = fmt::format("after step {} the checkpoint has other particles than this case: {}", step,
                               to_string(verdict)),
        .path = {},
        .rank = 0,
        .hint = "give the particles, clustering and drift that the run began with"});
}

std::int64_t Cube::memory_bytes() const noexcept {
  const auto field_bytes = own_box_.volume() * static_cast<std::int64_t>(h5::size_bytes(formula_.type));
  return field_bytes + load_.memory_bytes() + (particles_ != nullptr ? particles_->memory_bytes() : 0);
}

}  // namespace tailrace::rehearse
