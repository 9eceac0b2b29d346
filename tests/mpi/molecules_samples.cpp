// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "decomposition.hpp"
#include "generator.hpp"
#include "id_order.hpp"
#include "molecules_share.hpp"
#include "mpi_case.hpp"
#include "rotation.hpp"
#include "samples.hpp"
#include "step_writers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

namespace {

using fixture::gathered, fixture::list_of;

const Vec3 box{9, 10, 11};

/// One kind of atom and one of a turning molecule.
Model two_kinds() {
  Model model;
  model.components.resize(2);
  model.components[0].lennard_jones = {{.mass = 1, .epsilon = 1, .sigma = 1}};
  model.components[1].lennard_jones = {{.place = {0, 0, 0.5}, .mass = 1, .epsilon = 1, .sigma = 1},
                                       {.place = {0, 0, -0.5}, .mass = 1, .epsilon = 1, .sigma = 1}};
  model.mixing = {{}};
  return model;
}

std::vector<Molecule> start(mpi::CommView comm, const StartLattice& lattice) {
  const auto decomposition = Decomposition::regular(box, comm.size());
  return generate(comm, lattice, two_kinds(), box, decomposition.region(comm.rank()));
}

std::vector<std::uint64_t> ids_of(const std::vector<Molecule>& molecules) {
  std::vector<std::uint64_t> ids;
  for (const auto& molecule : molecules) ids.push_back(molecule.id);
  return ids;
}

/// Outputs of these quantities at every second step.
std::vector<run::OutputTable> tables_of(std::span<const char* const> names) {
  std::vector<run::OutputTable> tables(names.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].key = "output";
    tables[i].name = tables[i].quantity = names[i];
    tables[i].every = 2;
  }
  return tables;
}

run::CaseOutputs outputs_of(const std::vector<run::OutputTable>& placed, Index3 space) {
  std::vector<std::string> offered;
  for (const auto& quantity : quantities) offered.emplace_back(quantity.name);
  return {placed,
          {.points = space,
           .interior = Box::whole(space),
           .steps = 4,
           .dt_s = 1,
           .quantities = offered,
           .taken_paths = {}},
          "case"};
}

}  // namespace

MPI_CASE("a start is the same on any number of ranks, at rest as a whole and as warm as wanted",
         shared_by{1, 2, 3, 4, 7}) {
  static std::vector<Molecule> on_one_rank;
  const StartLattice lattice{.density = 0.5, .temperature = 1.7, .seed = 11, .fractions = {}, .droplet = {}};
  const auto all = gathered(comm, start(comm, lattice));
  REQUIRE(all.size() == 600);  // 5 x 5 x 6 cells of 4
  if (comm.size() == 1) on_one_rank = all;
  if (comm.is_root() && !on_one_rank.empty()) CHECK(all == on_one_rank);
  const auto model = two_kinds();
  Vec3 momentum{};
  double moving = 0, turning = 0, freedoms = 0;
  for (const auto& m : all) {
    const auto& component = model.components[static_cast<std::size_t>(m.component)];
    momentum = momentum + component.mass() * m.velocity;
    moving += component.mass() * dot(m.velocity, m.velocity);
    turning += twice_rotational_energy(m.orientation, m.angular_momentum, component.inertia());
    freedoms += component.rotational_freedoms();
  }
  CHECK(std::sqrt(dot(momentum, momentum)) < 1e-6);
  CHECK(moving / (3 * static_cast<double>(all.size())) == doctest::Approx(1.7).epsilon(1e-8));
  CHECK(turning / freedoms == doctest::Approx(1.7).epsilon(1e-8));
  CHECK(freedoms > 400);
}

MPI_CASE("a droplet is dense inside and thin outside", ranks{1, 3}) {
  const StartLattice::Droplet drop{.centre = {0, 5, 5}, .radius = 3, .vapour_density = 0.05};
  const StartLattice lattice{.density = 0.8, .temperature = 1, .seed = 1, .fractions = {}, .droplet = drop};
  const auto all = gathered(comm, start(comm, lattice));
  std::int64_t inside = 0;
  for (const auto& m : all) {
    Vec3 apart = m.position - drop.centre;
    for (std::size_t d = 0; d < 3; ++d) apart[d] -= box[d] * std::nearbyint(apart[d] / box[d]);
    inside += std::sqrt(dot(apart, apart)) < drop.radius ? 1 : 0;
  }
  const double volume = 4.19 * 27;
  CHECK(static_cast<double>(inside) / volume == doctest::Approx(0.727).epsilon(0.12));
  CHECK(static_cast<double>(all.size()) - static_cast<double>(inside) < 0.06 * 990);
  CHECK(static_cast<std::int64_t>(all.size()) > inside);
}

MPI_CASE("ids have places in ascending order, whoever has the molecules", ranks{1, 2, 3, 4, 7}) {
  // 23 ids far apart, dealt out one after the other; the last rank has none.
  std::vector<std::uint64_t> all, own;
  for (std::uint64_t i = 0; i < 23; ++i) all.push_back(i == 22 ? ~std::uint64_t{0} : i * i * i << 40U);
  const auto owners = static_cast<std::size_t>(std::max(1, comm.size() - 1));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i * 7 % owners == static_cast<std::size_t>(comm.rank())) own.push_back(all[i]);
  const IdOrder order(comm, own);
  REQUIRE(order.size() == 23);
  REQUIRE(static_cast<std::int64_t>(order.own().size()) == order.end() - order.begin());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int owner = order.owner(all[i]);
    CHECK(static_cast<std::int64_t>(i) >= order.begin(owner));
    CHECK(static_cast<std::int64_t>(i) < order.begin(owner + 1));
    if (owner == comm.rank()) CHECK(order.begin() + order.place(all[i]) == static_cast<std::int64_t>(i));
  }
  CHECK(order.place(5) == -1);
}

MPI_CASE("fewer molecules than ranks, and none at all", ranks{1, 2, 3, 7}) {
  const IdOrder one(
      comm, comm.rank() == comm.size() - 1 ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{});
  CHECK(one.size() == 1);
  CHECK(mpi::sum(comm, static_cast<std::int64_t>(one.own().size())) == 1);
  CHECK((one.owner(0) == comm.rank()) == (one.own().size() == 1));
  const IdOrder none(comm, {});
  CHECK(none.size() == 0);
}

MPI_CASE("an id that two molecules have is named on all ranks", ranks{1, 2, 3, 7}) {
  std::vector<std::uint64_t> ids{static_cast<std::uint64_t>(comm.rank()) + 100};
  if (comm.rank() == comm.size() - 1) ids.push_back(100);
  try {
    const IdOrder order(comm, ids);
    FAIL("nobody noticed");
  } catch (const Error& error) {
    CHECK(error.info().message == "two molecules have the id 100");
  }
}

MPI_CASE("samples of molecules lie in the order of their ids, those of bins add up", ranks{1, 2, 3, 4, 7}) {
  const auto model = two_kinds();
  const StartLattice lattice{.density = 0.5, .temperature = 1.7, .seed = 11, .fractions = {}, .droplet = {}};
  const auto own = start(comm, lattice);
  const IdOrder order(comm, ids_of(own));
  const std::array names{"position", "orientation", "density", "observables"};
  const auto tables = tables_of(names);
  const std::vector<Bins> bins{{1, 1, 1}, {1, 1, 1}, {3, 2, 1}, {1, 1, 1}};
  const auto placed = Samples::placed(tables, bins, order.size());
  CHECK(placed.size() == 3 + Observable::count);
  const auto space = Samples::space(placed, order.size());
  CHECK(space == Index3{6, order.size(), 1});
  const auto outputs = outputs_of(placed, space);
  Samples samples(comm, outputs.streams(), space, box, model, order);
  CHECK(!samples.due(1));
  REQUIRE(samples.due(2));
  ObservableValues values{};
  values[Observable::pressure] = 42;
  samples.take(2, values, list_of(own));
  const auto number = [&](const char* source, std::int64_t x, std::int64_t y) {
    const auto field = samples.field(source);
    return static_cast<const double*>(field.data)[(y - field.box.lo.y) * field.stride_y + x];
  };
  const auto all = gathered(comm, own);
  for (std::int64_t y = order.begin(); y < order.end(); ++y) {
    const auto& molecule = all[static_cast<std::size_t>(y)];
    for (std::size_t c = 0; c < 3; ++c)
      CHECK(number("position", static_cast<std::int64_t>(c), y) == molecule.position[c]);
    CHECK(number("orientation", 3, y) == molecule.orientation[3]);
  }
  CHECK(*static_cast<const double*>(samples.field("pressure").data) == 42);
  double sum = 0;
  for (std::int64_t b = 0; b < 6; ++b)
    sum += static_cast<const double*>(samples.field("density 3x2x1").data)[b];
  CHECK(sum * 990 / 6 == doctest::Approx(600));
  const auto mine = in_order(comm, order, list_of(own));
  CHECK(std::equal(mine.begin(), mine.end(), all.begin() + order.begin()));
}

}  // namespace tailrace::molecules
