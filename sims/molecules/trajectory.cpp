// SPDX-License-Identifier: BSD-3-Clause
#include "trajectory.hpp"

#include "quantities.hpp"

namespace tailrace::molecules {

namespace {

/// A series of a quantity of molecules that keeps all samples, and knows how many.
bool is_series(const run::OutputTable& table, const output::Stream& stream) {
  const auto* const quantity = find_quantity(table.quantity);
  return quantity != nullptr && quantity->kind == Quantity::Kind::per_molecule &&
         table.reduction == output::Reduction::none && stream.datasets.front().shape.front() > 0;
}

}  // namespace

Trajectory trajectory_of(const std::vector<run::OutputTable>& tables, const run::CaseOutputs& outputs) {
  const auto& streams = outputs.streams();
  const auto first = [&](const std::string& quantity,
                         const output::Cadence* cadence) -> const output::Stream* {
    for (std::size_t i = 0; i < tables.size(); ++i)
      if (tables[i].quantity == quantity && is_series(tables[i], streams[i]) &&
          (cadence == nullptr || streams[i].cadence == *cadence))
        return &streams[i];
    return nullptr;
  };
  Trajectory found;
  const auto* const positions = first("position", nullptr);
  if (positions == nullptr) return found;
  for (const auto step : positions->cadence.steps()) found.times.push_back(outputs.time_s(step));
  for (const auto& quantity : quantities)
    if (const auto* const stream = first(quantity.name, &positions->cadence))
      found.series.push_back({quantity.name, stream->datasets.front()});
  return found;
}

}  // namespace tailrace::molecules
