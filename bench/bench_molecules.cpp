/// The parts of a molecular dynamics step on one rank whose neighbours are images of itself: microseconds per
/// molecule and step, for a Lennard-Jones liquid (density 0.8442, cutoff 2.5, dt 0.005) or for a fluid of
/// three centres and three charges (density 0.18, cutoff 3.2, dt 0.001). Goes to standard output as JSON.
#include <fmt/format.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "molecules_system.hpp"
#include "tailrace/base/system.hpp"

using namespace tailrace;
using namespace tailrace::molecules;

namespace {

struct Settings {
  std::string fluid = "lj";
  int cells = 20, steps = 100, warm_up = 20, cells_per_cutoff = 1;
};

/// Four molecules in each cell of a face-centred lattice, with velocities by chance.
std::vector<Molecule> face_centred(int cells, double box, double temperature, const Model& model) {
  const auto moving = test::lattice(2 * cells, box, temperature, model, 1);
  std::vector<Molecule> molecules;
  for (const auto& m : moving) {
    // Every other place of a simple cubic lattice.
    const auto place = static_cast<int>(m.id - 1), edge = 2 * cells;
    if ((place % edge + place / edge % edge + place / edge / edge) % 2 == 0) molecules.push_back(m);
  }
  return molecules;
}

nlohmann::json measure(const Settings& settings) {
  const bool lj = settings.fluid == "lj";
  const Model model = lj ? test::argon(2.5, true) : test::carbon_dioxide();
  const double count = 4.0 * settings.cells * settings.cells * settings.cells,
               box = std::cbrt(count / (lj ? 0.8442 : 0.18));
  test::System system(model, {box, box, box}, face_centred(settings.cells, box, lj ? 1.44 : 5.0, model),
                      settings.cells_per_cutoff);
  const double dt = lj ? 0.005 : 0.001;
  for (int step = 0; step < settings.warm_up; ++step) system.step(dt);
  system.reset_times();
  const double start_s = monotonic_s();
  for (int step = 0; step < settings.steps; ++step) system.step(dt);
  const double scale = 1e6 / (count * settings.steps);
  nlohmann::json result{
      {"fluid", settings.fluid},
      {"molecules", static_cast<std::int64_t>(count)},
      {"steps", settings.steps},
      {"threads", omp_get_max_threads()},
      {"us_per_molecule_step", scale * (monotonic_s() - start_s)},
      {"pairs_per_molecule", static_cast<double>(system.totals().pairs) / count},
      {"bytes_per_molecule", static_cast<double>(system.particles().memory_bytes()) / count}};
  for (const auto& [part, seconds] : system.times()) result["parts_us"][part] = scale * seconds;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Microseconds per molecule and step");
  app.add_option("--fluid", settings.fluid)->check(CLI::IsMember({"lj", "co2"}));
  app.add_option("--cells", settings.cells, "along an edge of the face-centred lattice; 20: 32000 molecules");
  app.add_option("--steps", settings.steps);
  app.add_option("--warm-up", settings.warm_up);
  app.add_option("--cells-per-cutoff", settings.cells_per_cutoff);
  CLI11_PARSE(app, argc, argv);
  fmt::print("{}\n", measure(settings).dump(2));
}
