// SPDX-License-Identifier: BSD-3-Clause
#include "start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::molecules {

namespace {

/// Centres that attract and repel each other without being of any size give no force that is a number.
void check_centres(const Problem& problem, Problems& problems) {
  const auto& components = problem.model.components;
  for (std::size_t i = 0; i < components.size(); ++i)
    for (const auto& site : components[i].lennard_jones) {
      if (site.sigma > 0 || site.epsilon == 0) continue;
      return problems.add(
          fmt::format("component[{}]: a Lennard-Jones centre has sigma = {:g} and epsilon = {:g}", i,
                      site.sigma, site.epsilon),
          "sigma above 0, or epsilon = 0 for a centre without forces");
    }
}

/// Two centres at rest swing around their distance in about this time; a longer step follows nothing.
void check_time_step(const Problem& problem, Problems& problems) {
  const auto& components = problem.model.components;
  for (std::size_t i = 0; i < components.size(); ++i)
    for (const auto& site : components[i].lennard_jones) {
      const double time = site.sigma * std::sqrt(components[i].mass() / site.epsilon);
      if (!(site.sigma > 0 && site.epsilon > 0) || problem.dt <= time) continue;
      return problems.add(
          fmt::format("time.dt: {:g} is longer than {:g}, the time sigma sqrt(mass / epsilon) "
                      "in which centres of component[{}] swing",
                      problem.dt, time, i),
          fmt::format("dt = {:g} or less", time / 200));
    }
}

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
  check_centres(problem, problems);
  check_time_step(problem, problems);
  problems.throw_if_any();
}

double Start::count() const {
  if (file_) return static_cast<double>(file_->header().molecules);
  return expected_molecules(std::get<StartLattice>(problem_.start), problem_.length);
}

std::vector<Molecule> Start::molecules(mpi::CommView comm, const Decomposition& decomposition) const {
  const auto own = decomposition.region(comm.rank());
  if (!file_)
    return generate(comm, std::get<StartLattice>(problem_.start), problem_.model, problem_.length, own);
  std::vector<Molecule> molecules;
  read_file(
      own, [&](const Vec3& r) { return decomposition.owner(r); },
      [&](const Molecule& molecule) { molecules.push_back(molecule); });
  return molecules;
}

void Start::check(mpi::CommView comm) const {
  const auto decomposition = Decomposition::regular(problem_.length, comm.size(), {});
  if (!file_) return;
  read_file(
      decomposition.region(comm.rank()), [&](const Vec3& r) { return decomposition.owner(r); },
      [](const Molecule&) {});
}

void Start::read_file(const Region& own, const std::function<int(const Vec3&)>& owner,
                      const Take& take) const {
  file_->read({.limits = {problem_.length, problem_.model.components.size()}, .own = own, .owner = owner},
              take);
}

}  // namespace tailrace::molecules
