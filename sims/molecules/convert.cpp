#include "convert.hpp"

#include <vector>

namespace tailrace::molecules {

Model model_of(const PhaseSpaceHeader& header, Model model) {
  if (!header.components.empty()) {
    model.components = header.components;
    model.mixing = header.mixing;
  }
  if (header.reaction_field_epsilon) model.reaction_field_epsilon = *header.reaction_field_epsilon;
  return model;
}

void convert(mpi::CommView comm, const PhaseSpaceFiles& from, const PhaseSpaceFiles& to, const Share& share,
             const Model& model, const std::array<std::int64_t, 3>& cells) {
  const auto file = open_phase_space(comm, from);
  std::vector<Molecule> molecules;
  file->read(share, [&](const Molecule& molecule) { molecules.push_back(molecule); });
  const auto& header = file->header();
  const auto whole = model_of(header, model);
  write_phase_space(comm, to,
                    {.time = header.time.value_or(0),
                     .temperature = header.temperature.value_or(0),
                     .box = share.limits.box,
                     .model = &whole,
                     .own = share.own,
                     .list = {static_cast<std::int64_t>(molecules.size()),
                              [&](std::int64_t i) { return molecules[static_cast<std::size_t>(i)]; }},
                     .cells = cells});
}

}  // namespace tailrace::molecules
