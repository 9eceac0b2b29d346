// SPDX-License-Identifier: BSD-3-Clause
#include "samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "base/check.hpp"
#include "exact_sum.hpp"
#include "mpi/packets.hpp"
#include "rotation.hpp"

namespace tailrace::molecules {

namespace {

using Kind = Quantity::Kind;

/// The name by which an output asks for its values: equal for outputs of equal values.
std::string source_name(const Quantity& quantity, const Bins& bins) {
  if (quantity.kind != Kind::binned) return quantity.name;
  return fmt::format("{} {}x{}x{}", quantity.name, bins[0], bins[1], bins[2]);
}

std::int64_t count_of(const Bins& bins) noexcept {
  return bins[0] * bins[1] * bins[2];
}

run::SamplePlace place_of(const Quantity& quantity, const Bins& bins, std::int64_t molecules) {
  run::SamplePlace place{.box = {{0, 0, 0}, {1, 1, 1}}, .shape = {}, .source = source_name(quantity, bins)};
  const auto number = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  if (quantity.kind == Kind::per_molecule) {
    place.box.hi = {quantity.components, molecules, 1};
    place.shape = {number(molecules), number(quantity.components)};
  } else if (quantity.kind == Kind::binned) {
    place.box.hi.x = count_of(bins);
    place.shape = {number(bins[2]), number(bins[1]), number(bins[0])};
  }
  return place;
}

/// The numbers of a molecule that a quantity consists of.
std::array<double, 4> numbers_of(const Molecule& m, const Quantity& quantity) noexcept {
  const std::string name = quantity.name;
  if (name == "orientation") return m.orientation;
  const Vec3& v = name == "position" ? m.position : name == "velocity" ? m.velocity : m.angular_momentum;
  return {v[0], v[1], v[2], 0};
}

}  // namespace

std::vector<run::OutputTable> Samples::placed(const std::vector<run::OutputTable>& tables,
                                              const std::vector<Bins>& bins, std::int64_t molecules) {
  std::vector<run::OutputTable> all;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const auto& quantity : quantities) {
      const bool part = tables[i].quantity == all_observables && quantity.kind == Kind::observable;
      if (!part && tables[i].quantity != quantity.name) continue;
      auto table = tables[i];
      if (part) table.name += fmt::format("/{}", quantity.name);
      table.quantity = quantity.name;
      table.place = place_of(quantity, bins[i], molecules);
      all.push_back(std::move(table));
    }
  }
  return all;
}

Index3 Samples::space(const std::vector<run::OutputTable>& placed, std::int64_t molecules) {
  Index3 space{1, molecules, 1};
  for (const auto& table : placed) space.x = std::max(space.x, table.place->box.hi.x);
  return space;
}

Samples::Samples(mpi::CommView comm, const std::vector<output::Stream>& streams, Index3 space,
                 const Vec3& box, const Model& model, const IdOrder& order)
    : comm_(comm),
      space_(space),
      own_box_{{0, order.begin(), 0}, {space.x, order.end(), space.z}},
      box_(box),
      model_(model),
      order_(order) {
  for (const auto& stream : streams) {
    auto& source = sources_[stream.quantity];
    if (source.quantity == nullptr) {
      const auto& shape = stream.datasets.front().shape;
      source.quantity = find_quantity(stream.quantity.substr(0, stream.quantity.find(' ')));
      TAILRACE_CHECK(source.quantity != nullptr, "streams are of quantities that there are");
      if (source.quantity->kind == Kind::binned)
        for (std::size_t d = 0; d < 3; ++d) source.bins[d] = static_cast<std::int64_t>(shape[3 - d]);
      source.width = std::max(source.quantity->components, count_of(source.bins));
      const bool each = source.quantity->kind == Kind::per_molecule;
      source.values.resize(static_cast<std::size_t>(
          std::max<std::int64_t>(1, source.width * (each ? own_box_.y().size() : 1))));
    }
    wanted_.push_back({stream.cadence, stream.reduction == output::Reduction::final, &source});
  }
}

bool Samples::due(StepIndex step) const noexcept {
  return std::any_of(wanted_.begin(), wanted_.end(),
                     [&](const Wanted& wanted) { return wanted.cadence.is_due(step); });
}

void Samples::take(StepIndex step, const ObservableValues& values, const MoleculeList& molecules) {
  std::set<Source*> due;
  for (const auto& wanted : wanted_)
    if (wanted.cadence.is_due(step)) due.insert(wanted.source);
  std::vector<Source*> sources;  // in an order that is the same on all ranks
  for (auto& [name, source] : sources_)
    if (due.count(&source) > 0) sources.push_back(&source);
  gather(sources, values, molecules);
}

void Samples::take_last(const ObservableValues& values, const MoleculeList& molecules) {
  std::vector<Source*> sources;
  for (auto& [name, source] : sources_)
    if (std::any_of(wanted_.begin(), wanted_.end(),
                    [&](const Wanted& wanted) { return wanted.final && wanted.source == &source; }))
      sources.push_back(&source);
  gather(sources, values, molecules);
}

void Samples::gather(const std::vector<Source*>& sources, const ObservableValues& values,
                     const MoleculeList& molecules) {
  std::vector<Source*> by_id;
  for (auto* const source : sources) {
    const auto& quantity = *source->quantity;
    if (quantity.kind == Kind::observable)
      source->values[0] = values[static_cast<std::size_t>(&quantity - quantities.data())];
    else if (quantity.kind == Kind::binned)
      gather_bins(*source, molecules);
    else
      by_id.push_back(source);
  }
  if (!by_id.empty()) gather_by_id(by_id, molecules);
}

/// Sends each molecule's numbers to the rank with its place.
void Samples::gather_by_id(const std::vector<Source*>& sources, const MoleculeList& molecules) {
  std::map<int, std::vector<std::uint64_t>> to;
  std::size_t words = 1;
  for (const auto* source : sources) words += static_cast<std::size_t>(source->width);
  for (std::int64_t i = 0; i < molecules.count; ++i) {
    const auto m = molecules.molecule(i);
    auto& message = to[order_.owner(m.id)];
    message.push_back(m.id);
    for (const auto* source : sources) {
      const auto numbers = numbers_of(m, *source->quantity);
      for (std::int64_t c = 0; c < source->width; ++c)
        message.push_back(std::bit_cast<std::uint64_t>(numbers[static_cast<std::size_t>(c)]));
    }
  }
  std::vector<mpi::Packet<std::uint64_t>> packets;
  for (auto& [rank, message] : to) packets.push_back({rank, std::move(message)});
  for (const auto& packet : mpi::deliver(comm_, packets)) {
    for (std::size_t k = 0; k + words <= packet.values.size(); k += words) {
      const auto place = order_.place(packet.values[k]);
      TAILRACE_CHECK(place >= 0, "every molecule has a place");
      std::size_t from = k + 1;
      for (auto* const source : sources)
        for (std::int64_t c = 0; c < source->width; ++c)
          source->values[static_cast<std::size_t>(place * source->width + c)] =
              std::bit_cast<double>(packet.values[from++]);
    }
  }
}

/// Counts what lies in each bin, on all ranks.
void Samples::gather_bins(Source& source, const MoleculeList& molecules) const {
  const auto bins = static_cast<std::size_t>(count_of(source.bins));
  const bool temperature = source.quantity->name != std::string("density");
  ExactSums sums(temperature ? 2 * bins : bins);
  for (std::int64_t i = 0; i < molecules.count; ++i) {
    const auto m = molecules.molecule(i);
    std::int64_t bin = 0;
    for (const std::size_t d : {2U, 1U, 0U}) {
      const auto n = source.bins[d];
      const auto at = static_cast<std::int64_t>(m.position[d] / box_[d] * static_cast<double>(n));
      bin = bin * n + std::clamp<std::int64_t>(at, 0, n - 1);
    }
    const auto& component = model_.components[static_cast<std::size_t>(m.component)];
    const auto b = static_cast<std::size_t>(bin);
    sums.add(b, temperature ? 3 + component.rotational_freedoms() : 1);
    if (temperature)
      sums.add(bins + b, component.mass() * dot(m.velocity, m.velocity) +
                             twice_rotational_energy(m.orientation, m.angular_momentum, component.inertia()));
  }
  const auto whole = sums.over(comm_);
  const double volume = box_[0] * box_[1] * box_[2] / static_cast<double>(bins);
  for (std::size_t b = 0; b < bins; ++b)
    source.values[b] = !temperature ? whole[b] / volume : whole[b] > 0 ? whole[bins + b] / whole[b] : 0;
}

output::FieldView Samples::field(const std::string& source) const {
  const auto found = sources_.find(source);
  TAILRACE_CHECK(found != sources_.end(), "fields are asked for by the names of sources");
  // All planes are one: what lies in the space is reported by the streams' boxes.
  return {.data = found->second.values.data(),
          .type = h5::ElementType::float64,
          .box = own_box_,
          .stride_y = found->second.width,
          .stride_z = 0};
}

std::int64_t Samples::memory_bytes() const noexcept {
  std::size_t numbers = 0;
  for (const auto& [name, source] : sources_) numbers += source.values.size();
  return static_cast<std::int64_t>(numbers * sizeof(double));
}

}  // namespace tailrace::molecules
