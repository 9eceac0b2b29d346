// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <fstream>

#include "command_line.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

namespace tailrace::molecules {

namespace {

const std::string good = R"(
[case]
simulation = "molecules"
[domain]
length = [10.0, 11.0, 12.0]
[time]
dt = 0.004
steps = 20
[[component]]
name = "a"
lj = [{mass = 1.5, epsilon = 1.0, sigma = 1.0, shifted = true}]
[[component]]
lj = [{place = [0, 0, 0.5], mass = 1.0, epsilon = 2.0, sigma = 1.1}]
charge = [{charge = -1.0}, {place = [0, 0.1, 0], charge = 1.0, mass = 0.5}]
dipole = [{moment = 1.2, direction = [0, 3, 4]}]
quadrupole = [{moment = 0.8}]
inertia = [0.1, 0.2, 0.3]
[[mixing]]
components = [0, 1]
xi = 0.9
eta = 1.1
[model]
cutoff = 3.0
lj_cutoff = 2.5
long_range = "none"
charge_dipole_sign = "reference"
[start]
kind = "lattice"
density = 0.3
fractions = [0.2, 0.8]
[thermostat]
temperature = 1.2
[decomposition]
kind = "kd"
every = 50
[[output]]
name = "slabs"
quantity = "density"
bins = [1, 1, 20]
every = 5
[[writer]]
name = "ResultWriter"
every = 10
prefix = "result"
)";

/// The options of a case, or its problems.
struct Read {
  Options options;
  std::string problems;
};

Read read(const std::string& text, const std::vector<std::string>& settings = {},
          bool allow_outside = false) {
  const test::TempDir directory;
  CommandLine line;
  line.allow_outside = allow_outside;
  line.case_file = directory.file("case.toml");
  line.settings = settings;
  std::ofstream(line.case_file) << text;
  Read found;
  try {
    apply_case(line);
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::input);
    found.problems = error.what();
  }
  found.options = std::move(line.options);
  return found;
}

bool reports(const std::string& setting, const std::string& words) {
  const auto problems = read(good, {setting}).problems;
  CAPTURE(problems);
  return problems.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a case with everything in it") {
  const auto [options, problems] = read(good);
  CHECK(problems == "");
  const auto& problem = options.problem;
  CHECK(problem.length == Vec3{10, 11, 12});
  CHECK(problem.steps == 20);
  const auto& model = problem.model;
  REQUIRE(model.components.size() == 2);
  CHECK(model.components[0].mass() == 1.5);
  CHECK(model.components[0].lennard_jones[0].shifted);
  CHECK(model.components[1].mass() == 1.5);
  CHECK(model.components[1].dipoles[0].direction[1] == doctest::Approx(0.6));
  CHECK(model.components[1].inertia() == Vec3{0.1, 0.2, 0.3});
  CHECK(model.mixing_of(1, 0) == Mixing{.xi = 0.9, .eta = 1.1});
  CHECK(model.lj_cutoff == 2.5);
  CHECK(model.long_range == LongRange::none);
  CHECK(model.reference_charge_dipole_sign);
  CHECK(!model.reference_shift);
  CHECK(std::get<StartLattice>(problem.start).fractions == std::vector{0.2, 0.8});
  CHECK(problem.decomposition.kind == DecompositionOptions::Kind::kd);
  REQUIRE(options.bins.size() == 1);
  CHECK(options.bins[0] == Bins{1, 1, 20});
  REQUIRE(options.writers.size() == 1);
  CHECK(options.writers[0].prefix == "result");
  CHECK(options.resolved["start"]["seed"] == 1);
}

TEST_CASE("a thermostat that takes its temperature from a start without a file") {
  auto text = good;
  text.replace(text.find("temperature = 1.2"), 17, "from_start = true");
  CHECK(read(text).problems.find("thermostat.from_start: there is no start.file that states") !=
        std::string::npos);
}

TEST_CASE("the time of step 0 is stated once") {
  const std::string lattice = "kind = \"lattice\"\ndensity = 0.3\nfractions = [0.2, 0.8]";
  auto text = good;
  text.replace(text.find(lattice), lattice.size(), "file = \"a.inp\"");
  const auto file_of = [](const Options& options) { return std::get<StartFile>(options.problem.start); };
  CHECK(file_of(read(text).options).keeps_time);
  const auto stated = read(text, {"start.time=2.5"}).options;
  CHECK(!file_of(stated).keeps_time);
  CHECK(stated.problem.time_of_step_0 == 2.5);
  const auto both = read(text, {"start.time=2.5", "start.keep_time=true"}).problems;
  CHECK(both.find("start.keep_time: conflicts with time") != std::string::npos);
}

TEST_CASE("two writers that would write one file are refused") {
  const auto refusal = [](const std::string& writers) {
    return read(good, {"writer=[" + writers + "]"}).problems;
  };
  const auto taken = refusal("{name = \"CheckpointWriter\"}, {name = \"BinaryCheckpointWriter\"}");
  CHECK(taken.find("writer[1].prefix: BinaryCheckpointWriter would write mardyn-##.restart.dat, as "
                   "CheckpointWriter of writer[0] does. Fix: a prefix of its own") != std::string::npos);
  CHECK(refusal("{name = \"XyzWriter\", prefix = \"a\"}, {name = \"XyzWriter\", prefix = \"b/../a\"}") != "");
  CHECK(refusal("{name = \"ResultWriter\"}, {name = \"ResultWriter\", every = 7}") != "");
  CHECK(refusal("{name = \"MPI-IOCheckpointWriter\"}, {name = \"PnetCDFCheckpointWriter\"}") != "");
  CHECK(
      refusal("{name = \"XyzWriter\"}, {name = \"PovWriter\"}, {name = \"VISWriter\"}, "
              "{name = \"ResultWriter\"}, {name = \"CheckpointWriter\"}, {name = \"MPICheckpointWriter\"}") ==
      "");
  CHECK(refusal("{name = \"XyzWriter\", prefix = \"a\"}, {name = \"XyzWriter\", prefix = \"b\"}") == "");
  CHECK(refusal("{name = \"XyzWriter\"}, {name = \"XyzWriter\", incremental = false}") == "");
  CHECK(refusal("{name = \"XyzWriter\", every = 1}, {name = \"XyzWriter\", every = 10}") == "");
}

TEST_CASE("files outside of the run directory are written where they are allowed to be") {
  const auto [options, problems] = read(good, {"writer[0].prefix=\"../beside\""}, true);
  CHECK(problems == "");
  CHECK(options.writers[0].prefix == "../beside");
}

TEST_CASE("what is wrong with a case is reported with its key and the fix") {
  CHECK(reports("domain.length=[10, 10]", "domain.length"));
  CHECK(reports("domain.length=[10, 10, -1]", "lengths above 0"));
  CHECK(reports("time.dt=0", "time.dt"));
  CHECK(reports("time.end=0.1", "give one of them"));
  CHECK(reports("model.lj_cutoff=4", "more than the cutoff"));
  CHECK(reports("model.long_range=planar", "\"planar\" is not accepted"));
  CHECK(reports("start.file=x.inp", "file = \"start.inp\", or kind"));
  CHECK(reports("start.file=x.inp", "start: names both a file and a kind of start"));
  CHECK(reports("start.fractions=[1]", "one for each [[component]]"));
  CHECK(reports("start.fractions=[0, 0]", "add up to 0"));
  CHECK(reports("decomposition.grid=[1, 2, 1]", "has no meaning for kind = \"kd\""));
  CHECK(reports("decomposition.kind=regular", "decomposition.every"));
  CHECK(reports("output[0].bins=[0, 1, 1]", "is no grid of bins"));
  CHECK(reports("output[0].quantity=position", "has no bins"));
  CHECK(reports("output[0].select={plane = {x = 1}}", "output[0].select"));
  CHECK(reports("mixing[0].components=[1, 0]", "is no pair of components"));
  CHECK(reports("component[0].lj[0].mass=0", "has no mass"));
  CHECK(reports("time.dt=nan", "time.dt: nan is not accepted"));
  CHECK(reports("writer[0].prefix=\"../../evil\"",
                "\"../../evil\" leads out of the run directory. Fix: a name "
                "below it, or add --allow-outside"));
  CHECK(reports("writer[0].prefix=\"below/../../evil\"", "leads out of the run directory"));
  CHECK(reports("writer[0].prefix=\"/tmp/evil\"", "leads out of the run directory"));
  CHECK(!reports("writer[0].prefix=\"below/../good\"", "leads out"));
  CHECK(reports("model.cutof=3", "model.cutoff"));
}

}  // namespace tailrace::molecules
