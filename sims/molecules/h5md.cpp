// SPDX-License-Identifier: BSD-3-Clause
#include "h5md.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "mpi/packets.hpp"
#include "output/core/groups.hpp"
#include "quantities.hpp"
#include "step_writers.hpp"

namespace tailrace::molecules {

namespace {

/// H5MD's names for the parts of an output, where they are not its own.
void link(output::FileHead& head, const std::string& element, const std::string& table) {
  for (const auto& [name, ours] : {std::pair{"value", "values"}, {"step", "step"}, {"time", "time_s"}}) {
    auto path = fmt::format("{}/{}", element, name), target = fmt::format("/{}/{}", table, ours);
    if (path != target) head.links.emplace_back(std::move(path), std::move(target));
  }
}

/// Ids and components of all molecules by their places: on rank 0, elsewhere as many zeros.
void add_identities(mpi::CommView comm, output::FileHead& head, const IdOrder& order,
                    const MoleculeList& own) {
  mpi::Packet<std::int64_t> packet{0, {}};
  for (const auto& molecule : in_order(comm, order, own)) {
    packet.values.push_back(static_cast<std::int64_t>(molecule.id));
    packet.values.push_back(molecule.component);
  }
  std::vector<std::int64_t> ids, species;
  for (const auto& arrived : mpi::deliver(comm, std::vector{packet}))
    for (std::size_t i = 0; i + 1 < arrived.values.size(); i += 2) {
      ids.push_back(arrived.values[i]);
      species.push_back(arrived.values[i + 1]);
    }
  const auto count = static_cast<std::uint64_t>(order.size());
  for (auto& [name, values] : {std::pair{"id", &ids}, {"species", &species}}) {
    auto dataset = output::static_dataset(fmt::format("{}/{}", molecules_group, name), *values);
    dataset.spec.shape = {count};
    head.datasets.push_back(std::move(dataset));
  }
}

/// The box does not change; but there are readers that look for it beside each sample of the positions.
void add_box(output::FileHead& head, const Trajectory& trajectory, const Vec3& box) {
  const std::string group = fmt::format("{}/box", molecules_group);
  const auto samples = std::max<std::size_t>(trajectory.times.size(), 1);
  std::vector<double> edges;
  for (std::size_t i = 0; i < samples; ++i) edges.insert(edges.end(), box.begin(), box.end());
  auto dataset = output::static_dataset(group + (trajectory.empty() ? "/edges" : "/edges/value"), edges);
  if (!trajectory.empty()) {
    dataset.spec.shape = {samples, box.size()};
    for (const char* name : {"step", "time"})
      head.links.emplace_back(fmt::format("{}/edges/{}", group, name),
                              fmt::format("{}/position/{}", molecules_group, name));
  }
  head.datasets.push_back(std::move(dataset));
  head.group_attributes.push_back({group, {"dimension", std::int64_t{3}, 0}});
  head.group_attributes.push_back(
      {group, {"boundary", std::vector<std::string>{"periodic", "periodic", "periodic"}, 0}});
}

}  // namespace

void add_h5md(mpi::CommView comm, output::FileHead& head, const std::vector<run::OutputTable>& tables,
              const Trajectory& trajectory, const Vec3& box, const IdOrder& order, const MoleculeList& own) {
  head.group_attributes.push_back({"/h5md", {"version", std::vector<std::int64_t>{1, 1}, 0}});
  head.group_attributes.push_back({"/h5md/author", {"name", std::string("not reported"), 0}});
  head.group_attributes.push_back({"/h5md/creator", {"name", std::string("tailrace-molecules"), 0}});
  head.group_attributes.push_back({"/h5md/creator", {"version", std::string(TAILRACE_VERSION), 0}});
  add_box(head, trajectory, box);
  std::set<std::string> linked;
  bool per_molecule = false;
  for (const auto& table : tables) {
    const auto* const quantity = find_quantity(table.quantity);
    const bool series = table.reduction == output::Reduction::none;
    if (quantity == nullptr || !series || quantity->kind == Quantity::Kind::binned) continue;
    if (!linked.insert(table.quantity).second) continue;
    const bool observable = quantity->kind == Quantity::Kind::observable;
    per_molecule = per_molecule || !observable;
    link(head, fmt::format("{}/{}", observable ? "/observables" : molecules_group, table.quantity),
         table.name);
  }
  if (per_molecule) add_identities(comm, head, order, own);
}

}  // namespace tailrace::molecules
