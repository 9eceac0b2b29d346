// SPDX-License-Identifier: BSD-3-Clause
#include "start.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "generator.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::molecules {

namespace {

void check_box(const Problem& problem, Problems& problems) {
  const Vec3& length = problem.length;
  const double least = *std::min_element(length.begin(), length.end());
  if (!(least > 0)) {
    problems.add("domain.length: is missing, and the start file does not state it",
                 "length = [18.0, 18.0, 18.0]");
    return;
  }
  const double cutoff = problem.model.cutoff;
  if (2 * cutoff > least)
    problems.add(fmt::format("model.cutoff: {:g} is longer than half the box of {:g} x {:g} x {:g}", cutoff,
                             length[0], length[1], length[2]),
                 fmt::format("at most {:g}, or a larger box", least / 2));
  const auto* const lattice = std::get_if<StartLattice>(&problem.start);
  if (lattice == nullptr || !lattice->droplet) return;
  const auto& drop = *lattice->droplet;
  if (2 * drop.radius > least)
    problems.add(fmt::format("start.radius: the droplet of {:g} does not fit into the box", drop.radius),
                 fmt::format("at most {:g}", least / 2));
}

}  // namespace

Start::Start(mpi::CommView comm, Problem& problem, std::vector<std::string>& warnings,
             const std::string& subject)
    : problem_(problem) {
  if (const auto* const start = std::get_if<StartFile>(&problem.start)) {
    PhaseSpaceFiles files;
    mpi::collectively(comm, [&] { files = recognise(start->path); });
    file_ = open_phase_space(comm, files);
  }
  mpi::collectively(comm, [&] { complete(problem, warnings, subject); });
}

void Start::complete(Problem& problem, std::vector<std::string>& warnings, const std::string& subject) const {
  Problems problems(subject);
  if (file_) {
    const auto& header = file_->header();
    warnings.insert(warnings.end(), header.warnings.begin(), header.warnings.end());
    const auto& path = std::get<StartFile>(problem.start).path;
    const bool given = *std::max_element(problem.length.begin(), problem.length.end()) > 0;
    if (!given && header.box) problem.length = *header.box;
    if (given && header.box && problem.length != *header.box)
      problems.add(fmt::format("domain.length: {} has a box of {} x {} x {}", path, (*header.box)[0],
                               (*header.box)[1], (*header.box)[2]),
                   "leave domain.length out, or take another file");
    if (problem.model.components.empty()) {
      problem.model.components = header.components;
      problem.model.mixing = header.mixing;
    }
    if (problem.model.components.empty())
      problems.add(fmt::format("component: is missing, and {} does not state any", path),
                   "[[component]] with lj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0}]");
    if (problem.thermostat.from_start) problem.thermostat.temperature = header.temperature.value_or(0);
    if (std::get<StartFile>(problem.start).keeps_time) problem.time_of_step_0 = header.time.value_or(0);
  }
  check_box(problem, problems);
  problems.throw_if_any();
}

std::vector<Molecule> Start::molecules(mpi::CommView comm, const Decomposition& decomposition) const {
  const auto own = decomposition.region(comm.rank());
  if (!file_)
    return generate(comm, std::get<StartLattice>(problem_.start), problem_.model, problem_.length, own);
  std::vector<Molecule> molecules;
  file_->read({.limits = {problem_.length, problem_.model.components.size()},
               .own = own,
               .owner = [&](const Vec3& r) { return decomposition.owner(r); }},
              [&](const Molecule& molecule) { molecules.push_back(molecule); });
  return molecules;
}

}  // namespace tailrace::molecules
