// SPDX-License-Identifier: BSD-3-Clause
#include "particles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "forces.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

namespace {

/// Bins along x are this much narrower than the cutoff.
constexpr double bins_per_cutoff = 8;

}  // namespace

Particles::Particles(const Model& model, const Vec3& box, const Region& own, int cells_per_cutoff)
    : field_(model),
      box_(box),
      region_(own),
      cells_per_cutoff_(cells_per_cutoff),
      own_(Columns::Kind::own, field_),
      copies_(Columns::Kind::copies, field_) {
  TAILRACE_CHECK(cells_per_cutoff >= 1, "rows are no higher than the cutoff");
  make_grids();
}

void Particles::make_grids() {
  const double cutoff = field_.model().cutoff;
  std::array<int, 2> rows{}, rows_with_copies{};
  const Region space = region_.empty() ? Region{{}, box_} : region_;  // a rank may have nothing
  Region wide = space;
  wide.low[0] -= cutoff;
  wide.high[0] += cutoff;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::size_t d = axis + 1;
    const double width = space.widths()[d];
    rows[axis] = std::max(1, static_cast<int>(width * cells_per_cutoff_ / cutoff));
    const double height = width / rows[axis];
    // A region thinner than the cutoff has one low row. (A height that fits is not taken for one that nearly
    // does.)
    layers_[axis] = static_cast<int>(std::ceil(cutoff / height - 1e-12));
    rows_with_copies[axis] = rows[axis] + 2 * layers_[axis];
    wide.low[d] -= height * layers_[axis];
    wide.high[d] += height * layers_[axis];
  }
  own_rows_ = std::make_unique<LinkedCells>(space, rows, cutoff / bins_per_cutoff);
  copy_rows_ = std::make_unique<LinkedCells>(wide, rows_with_copies, cutoff / bins_per_cutoff);
}

void Particles::insert(std::span<const Molecule> molecules) {
  for (const auto& molecule : molecules) check(molecule);
  own_.append(molecules);
}

void Particles::check(const Molecule& molecule) const {
  if (molecule.component < 0 || static_cast<std::size_t>(molecule.component) >= field_.components().size())
    throw Error(ErrorKind::input, fmt::format("molecule {} is of component {}, there are {}", molecule.id,
                                              molecule.component + 1, field_.components().size()));
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d)
    sum += molecule.position[d] + molecule.velocity[d] + molecule.angular_momentum[d];
  for (const double part : molecule.orientation) sum += part;
  if (!std::isfinite(sum))
    throw Error(ErrorKind::input, fmt::format("molecule {} has a number that is not finite", molecule.id));
}

std::vector<std::int64_t> Particles::count_components() const {
  std::vector<std::int64_t> counts(field_.components().size(), 0);
  for (std::int64_t i = 0; i < size(); ++i) ++counts[own_.component_of(i)];
  return counts;
}

std::vector<Molecule> Particles::take_leavers() {
  std::vector<Molecule> leavers;
  for (std::int64_t i = 0; i < own_.size();) {
    if (region_.contains({own_.position[0][i], own_.position[1][i], own_.position[2][i]})) {
      ++i;
    } else {
      leavers.push_back(own_.get(i));
      own_.remove(i);
    }
  }
  return leavers;
}

void Particles::sort() {
  own_rows_->sort(own_, order_);
}

void Particles::clear_halo() noexcept {
  copies_.resize(0);
  copies_arranged_ = false;
}

std::size_t Particles::copy_bytes() const noexcept {
  return sizeof(double) * (field_.rotates() ? 7 : 3) + (copies_.component.empty() ? 0 : sizeof(std::int32_t));
}

void Particles::pack_halo(const Region& region, const Vec3& shift, std::vector<std::byte>& out) const {
  const std::size_t stride = copy_bytes();
  std::size_t end = out.size();
  const auto append = [&out, &end](const auto& value) {
    std::memcpy(out.data() + end, &value, sizeof(value));
    end += sizeof(value);
  };
  const auto copy = [&](std::int64_t i) {
    const Vec3 r{own_.position[0][i], own_.position[1][i], own_.position[2][i]};
    if (!region.contains(r)) return;
    append(r + shift);
    if (field_.rotates()) append(own_.turn_of(i));
    if (!own_.component.empty()) append(own_.component[i]);
  };
  for (int z = own_rows_->row_of(1, region.low[2]); z <= own_rows_->row_of(1, region.high[2]); ++z)
    for (int y = own_rows_->row_of(0, region.low[1]); y <= own_rows_->row_of(0, region.high[1]); ++y) {
      const LinkedCells::Run run = own_rows_->run(y, z, region.low[0], region.high[0]);
      out.resize(end + static_cast<std::size_t>(run.end - run.begin) * stride);
      for (std::int64_t i = run.begin; i < run.end; ++i) copy(i);
    }
  out.resize(end);
}

void Particles::add_halo(std::span<const std::byte> bytes) {
  const std::size_t stride = copy_bytes();
  TAILRACE_CHECK(bytes.size() % stride == 0, "copies of molecules are not whole");
  std::int64_t i = copies_.size();
  copies_.resize(i + static_cast<std::int64_t>(bytes.size() / stride));
  const std::byte* from = bytes.data();
  const auto take = [&from](auto& value) {
    std::memcpy(&value, from, sizeof(value));
    from += sizeof(value);
  };
  for (; from != bytes.data() + bytes.size(); ++i) {
    for (auto& column : copies_.position) take(column[i]);
    if (field_.rotates())
      for (auto& column : copies_.orientation) take(column[i]);
    if (!copies_.component.empty()) take(copies_.component[i]);
  }
  copies_arranged_ = false;
}

void Particles::arrange_copies() {
  if (!copies_arranged_) copy_rows_->sort(copies_, order_);
  copies_arranged_ = true;
}

void Particles::compute_forces(Totals& totals) {
  arrange_copies();
  own_.clear_forces();
  const Neighbourhood neighbourhood{field_, own_, copies_, *own_rows_, *copy_rows_, layers_};
  RowSums all;
  for (const RowSums& row :
       field_.one_centre() ? one_centre_forces(neighbourhood) : site_forces(neighbourhood)) {
    all.u6_lj += row.u6_lj;
    all.u_el += row.u_el;
    all.u_rf += row.u_rf;
    all.virial += row.virial;
    all.pairs += row.pairs;
  }
  check_forces(all.u6_lj + all.u_el + all.u_rf + all.virial);
  totals.u_lj += all.u6_lj / 6;
  totals.u_el += all.u_el;
  totals.u_rf += all.u_rf;
  totals.virial += all.virial;
  totals.pairs += all.pairs;
}

void Particles::check_forces(double energy) const {
  if (std::isfinite(energy)) return;
  constexpr std::size_t max_named = 4;
  std::vector<std::uint64_t> ids;
  for (std::int64_t i = 0; i < own_.size(); ++i)
    if (!std::isfinite(own_.force[0][i] + own_.force[1][i] + own_.force[2][i])) ids.push_back(own_.id[i]);
  std::ranges::sort(ids);
  const std::size_t more = ids.size() - std::min(ids.size(), max_named);
  ids.resize(ids.size() - more);
  throw Error({.kind = ErrorKind::unstable,
               .message = ids.empty() ? "the potential energy is not finite"
                                      : fmt::format("forces that are not finite act on molecules {}{}",
                                                    fmt::join(ids, ", "),
                                                    more > 0 ? fmt::format(" and {} others", more) : ""),
               .path = {},
               .hint = "two molecules are on one point, or dt is too large"});
}

void Particles::reset_region(const Region& own) {
  region_ = own;
  clear_halo();
  make_grids();
}

void Particles::set_cells_per_cutoff(int cells_per_cutoff) {
  if (cells_per_cutoff == cells_per_cutoff_) return;
  cells_per_cutoff_ = cells_per_cutoff;
  clear_halo();
  make_grids();
}

std::int64_t Particles::memory_bytes() const noexcept {
  return own_.memory_bytes() + copies_.memory_bytes() + own_rows_->memory_bytes() +
         copy_rows_->memory_bytes();
}

}  // namespace tailrace::molecules
