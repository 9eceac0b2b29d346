// SPDX-License-Identifier: BSD-3-Clause
#include "start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "component_checks.hpp"
#include "generator.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::molecules {

namespace {

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

/// How many steps there are until the time at which to end, which may be written with few digits.
void find_steps(Problem& problem, Problems& problems) {
  if (!problem.end) return;
  constexpr double rounding = 1e-9, ulps = 4 * std::numeric_limits<double>::epsilon();
  constexpr double max_steps = static_cast<double>(StepIndex{1} << 40);
  const double begin = problem.time_of_step_0, end = *problem.end;
  const double error = rounding + ulps * std::max(std::abs(begin), std::abs(end)) / problem.dt;
  const double steps = std::ceil((end - begin) / problem.dt - error);
  if (steps >= 1 && steps <= max_steps)
    problem.steps = static_cast<StepIndex>(steps);
  else if (steps < 1)
    problems.add(
        fmt::format("time.end: {:g} is not after {:g}, the time at which the run begins", end, begin),
        "a later one, or steps = 1000 in its place, or start.time = 0");
  else
    problems.add(fmt::format("time.end: makes {:g} steps", steps), fmt::format("{:g} at most", max_steps));
}

/// Puts what the case leaves open into its problem, as the header of its start file says it.
class Completion {
 public:
  Completion(Problem& problem, const PhaseSpaceHeader& header, Problems& problems,
             std::vector<std::string>& warnings)
      : problem_(problem),
        start_(std::get<StartFile>(problem.start)),
        header_(header),
        problems_(problems),
        warnings_(warnings) {}

  void complete() {
    warnings_.insert(warnings_.end(), header_.warnings.begin(), header_.warnings.end());
    take_box();
    take_components();
    take_field();
    take_temperature();
    take_time();
  }

 private:
  void take_box() {
    if (!header_.box) return;
    const auto& box = *header_.box;
    if (!(*std::max_element(problem_.length.begin(), problem_.length.end()) > 0))
      problem_.length = box;
    else if (!same_box(problem_.length, box))
      problems_.add(
          fmt::format("domain.length: {} has a box of {} x {} x {}", start_.path, box[0], box[1], box[2]),
          "leave domain.length out, or take another file");
  }

  void take_components() {
    auto& model = problem_.model;
    if (!model.components.empty()) return;
    model.components = header_.components;
    model.mixing = header_.mixing;
    problem_.model_file = start_.path;
    if (model.components.empty())
      problems_.add(fmt::format("component: is missing, and {} does not state any", start_.path),
                    "[[component]] with lj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0}]");
  }

  void take_field() {
    if (!problem_.field_from_start || !header_.reaction_field_epsilon) return;
    const double epsilon = *header_.reaction_field_epsilon;
    problem_.model.reaction_field_epsilon = epsilon;
    if (!(epsilon > 0) || !std::isfinite(epsilon))
      problems_.add(fmt::format("model.reaction_field_epsilon: {} states a dielectric constant of {:g}",
                                start_.path, epsilon),
                    "a number above 0 behind its components, or reaction_field_epsilon = 1e10");
  }

  void take_temperature() {
    if (!problem_.thermostat.from_start) return;
    problem_.thermostat.temperature = header_.temperature.value_or(0);
    if (!header_.temperature)
      warnings_.push_back(fmt::format(
          "thermostat.from_start: {} does not state a temperature: there is no thermostat", start_.path));
  }

  void take_time() {
    if (!header_.time) return;
    if (start_.keeps_time)
      problem_.time_of_step_0 = *header_.time;
    else if (problem_.stated_time && *problem_.stated_time != *header_.time)
      warnings_.push_back(fmt::format("start.time: step 0 has the time {:g}, and not {:g}, which {} states",
                                      *problem_.stated_time, *header_.time, start_.path));
  }

  Problem& problem_;
  const StartFile& start_;
  const PhaseSpaceHeader& header_;
  Problems& problems_;
  std::vector<std::string>& warnings_;
};

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
  if (file_) Completion(problem, file_->header(), problems, warnings).complete();
  find_steps(problem, problems);
  check_box(problem, problems);
  const ModelSource source{problem.model_file};
  check_numbers(problem.model, source, problems);
  check_time_step(problem, problems);
  problems.throw_if_any();
  check_frames(problem.model, source, problems, warnings);
  problems.throw_if_any();
  warn_of_components(problem.model, source, warnings);
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
