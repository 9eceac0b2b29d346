// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "molecules_system.hpp"
#include "row_choice.hpp"

/// Rows: how high they are, and that it changes nothing but the time.
namespace tailrace::molecules {

TEST_CASE("rows are the lower the more crowded it is, and stay where another choice is hardly better") {
  for (const int now : {1, 3, max_cells_per_cutoff}) {
    CHECK(best_cells_per_cutoff(0, now) == 1);
    CHECK(best_cells_per_cutoff(1e6, now) == max_cells_per_cutoff);
    int before = 1;
    for (double pairs = 1; pairs < 1e6; pairs *= 1.1) {
      const int best = best_cells_per_cutoff(pairs, now);
      CHECK(best >= before);
      CHECK(best_cells_per_cutoff(pairs, best) == best);
      before = best;
    }
  }
}

TEST_CASE("a droplet in its vapour has the same energy with rows of any height") {
  const Model model = test::argon(2.5, true);
  std::vector<Molecule> molecules = test::lattice(10, 11, 1, model, 3);
  for (auto& m : molecules) m.position = m.position + Vec3{20, 12, 16};
  Molecule alone;
  for (const double x : {1.0, 9.0, 45.0, 49.5}) {
    alone.id = 2000 + static_cast<std::uint64_t>(x);
    alone.position = {x, 17, 21};
    molecules.push_back(alone);
  }
  std::vector<Totals> found;
  for (const int cells : {1, 2, 5}) {
    test::System system(model, {50, 40, 40}, molecules, cells);
    for (int step = 0; step < 3; ++step) system.step(0.004);
    found.push_back(system.totals());
  }
  for (const Totals& totals : found) {
    CHECK(totals.pairs == found[0].pairs);
    CHECK(totals.u_lj == doctest::Approx(found[0].u_lj).epsilon(1e-12));
    CHECK(totals.virial == doctest::Approx(found[0].virial).epsilon(1e-12));
  }
}

TEST_CASE("rows may be cut otherwise between steps") {
  const Model model = test::argon(2.5, true);
  const Vec3 box{18, 18, 18};
  Particles particles(model, box, {{}, box}, 1);
  particles.insert(test::read_start("argon-1clj/start.inp"));
  std::vector<double> energies;
  for (const int cells : {1, 3, 1}) {
    particles.set_cells_per_cutoff(cells);
    particles.sort();
    particles.clear_halo();
    Totals totals;
    particles.compute_forces(totals);
    energies.push_back(totals.u_lj);
  }
  CHECK(energies[1] == doctest::Approx(energies[0]).epsilon(1e-12));
  CHECK(energies[2] == energies[0]);
}

}  // namespace tailrace::molecules
