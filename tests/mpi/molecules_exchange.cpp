// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "balancer.hpp"
#include "molecules_fixture.hpp"
#include "mpi/verdict.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"

/// Halo, migration and balance of molecules without forces, against all molecules on every rank.
namespace tailrace::molecules {

namespace {

struct Copy {
  Vec3 position{};
  std::uint64_t id = 0;
  friend auto operator<=>(const Copy&, const Copy&) = default;
};

std::vector<Molecule> numbered(const std::vector<Vec3>& positions) {
  std::vector<Molecule> molecules;
  for (const Vec3& r : positions)
    molecules.push_back({.position = r, .velocity = {}, .id = molecules.size()});
  return molecules;
}

std::vector<Molecule> own_of(const std::vector<Molecule>& all, const Region& region) {
  std::vector<Molecule> own;
  for (const Molecule& molecule : all)
    if (region.contains(molecule.position)) own.push_back(molecule);
  return own;
}

/// A number that distinguishes molecules of all ranks from others, in whatever order.
std::uint64_t checksum(mpi::CommView comm, const std::vector<Molecule>& own) {
  std::uint64_t sum = 0;
  for (const Molecule& molecule : own) {
    std::uint64_t mixed = molecule.id + 1;
    for (const double x : molecule.position) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &x, sizeof bits);
      mixed = (mixed ^ bits) * 0x9e3779b97f4a7c15;
    }
    sum += mixed;
  }
  return mpi::sum(comm, std::vector{sum})[0];
}

/// Copies in the order in which they come.
std::vector<Copy> halo_of(Exchange& exchange, const std::vector<Molecule>& own) {
  const auto pack = [&](const HaloTarget& target, std::vector<std::byte>& out) {
    for (const Molecule& molecule : own_of(own, target.region)) {
      const Copy copy{molecule.position + target.shift, molecule.id};
      const auto bytes = std::as_bytes(std::span(&copy, 1));
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
  };
  exchange.start_halo(pack);
  std::vector<Copy> copies;
  exchange.finish_halo(pack, [&](std::span<const std::byte> bytes) {
    const std::size_t before = copies.size(), count = bytes.size() / sizeof(Copy);
    copies.resize(before + count);
    if (count > 0) std::memcpy(copies.data() + before, bytes.data(), bytes.size());
  });
  return copies;
}

double outside_by(const Region& region, const Vec3& r) {
  double most = 0;
  for (std::size_t d = 0; d < 3; ++d) most = std::max({most, region.low[d] - r[d], r[d] - region.high[d]});
  return most;
}

/// All molecules and images around a region, with how far outside of it they are.
std::map<Copy, double> around(const std::vector<Molecule>& all, const Vec3& box, const Region& region) {
  std::map<Copy, double> found;
  if (region.empty()) return found;
  for (const Molecule& molecule : all)
    for (int image = 0; image < 125; ++image) {
      const Vec3 shift{(image % 5 - 2) * box[0], (image / 5 % 5 - 2) * box[1], (image / 25 - 2) * box[2]};
      const Vec3 r = molecule.position + shift;
      if (!region.contains(r)) found[{r, molecule.id}] = outside_by(region, r);
    }
  return found;
}

void check_halo(mpi::CommView comm, unsigned seed) {
  fixture::Draw draw(seed);
  const Vec3 box = fixture::any_box(draw);
  const auto decomposition = fixture::any_decomposition(draw, box, comm.size());
  const double reach = fixture::uniform(draw, 0.1, 1.2) * std::min({box[0], box[1], box[2]});
  const auto all = numbered(fixture::any_positions(draw, {{}, box}, 80));
  const Region region = decomposition.region(comm.rank());
  Exchange exchange(comm, decomposition, reach);
  const auto own = own_of(all, region);
  auto copies = halo_of(exchange, own);
  CHECK((halo_of(exchange, own) == copies));  // in the same order, too
  std::sort(copies.begin(), copies.end());
  CHECK((std::adjacent_find(copies.begin(), copies.end()) == copies.end()));
  int missing = 0, needless = static_cast<int>(copies.size());
  for (const auto& [copy, distance] : around(all, box, region)) {
    const bool there = std::binary_search(copies.begin(), copies.end(), copy);
    if (there && distance <= reach * (1 + 1e-9)) --needless;
    if (!there && distance <= reach) ++missing;
  }
  CHECK(missing == 0);
  CHECK(needless == 0);
}

/// Moves molecules by less than `most` along each axis, the same on every rank.
void shake(std::vector<Molecule>& all, fixture::Draw& draw, double most) {
  for (Molecule& molecule : all)
    for (double& x : molecule.position) x += fixture::uniform(draw, -most, most);
}

/// Returns what stays in the region, and what has left it.
std::vector<Molecule> take_leavers(std::vector<Molecule>& own, const Region& region) {
  const auto leavers = std::ranges::stable_partition(
      own, [&](const Molecule& molecule) { return region.contains(molecule.position); });
  std::vector<Molecule> taken(leavers.begin(), leavers.end());
  own.erase(leavers.begin(), leavers.end());
  return taken;
}

void wrap(std::vector<Molecule>& all, const Vec3& box) {
  for (Molecule& molecule : all) molecule.position = wrapped(molecule.position, box);
}

}  // namespace

MPI_CASE("copies are what is within reach, of any decomposition and reach", ranks{1, 2, 3, 4, 7}) {
  for (unsigned seed = 1; seed <= 25; ++seed) check_halo(comm, seed);
}

MPI_CASE("molecules find their owners, and none is lost or doubled", ranks{1, 2, 3, 4, 7}) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    fixture::Draw draw(seed);
    const Vec3 box = fixture::any_box(draw);
    const double reach = 0.4 * std::min({box[0], box[1], box[2]});
    auto all = numbered(fixture::any_positions(draw, {{}, box}, 400));
    Exchange exchange(comm, fixture::any_decomposition(draw, box, comm.size()), reach);
    auto own = own_of(all, exchange.decomposition().region(comm.rank()));
    for (int step = 0; step < 6; ++step) {
      // Every rank moves all molecules alike; its own ones are those of the ids that it has.
      shake(all, draw, 0.9 * reach);
      for (Molecule& molecule : own) molecule.position = all[molecule.id].position;
      wrap(all, box);
      const Region region = exchange.decomposition().region(comm.rank());
      const auto leavers = take_leavers(own, region);
      const auto arrived = exchange.migrate(leavers);
      own.insert(own.end(), arrived.begin(), arrived.end());
      CHECK(!exchange.lost());
      auto expected = own_of(all, region);
      std::ranges::sort(own, {}, &Molecule::id);
      CHECK((own == expected));
    }
  }
}

MPI_CASE("after another decomposition molecules go straight to their new owners", ranks{1, 2, 3, 4, 7}) {
  fixture::Draw draw(77);
  const Vec3 box{11, 12, 13};
  const auto all = numbered(fixture::any_positions(draw, {{}, box}, 3000));
  Exchange exchange(comm, fixture::any_decomposition(draw, box, comm.size()), 1);
  auto own = comm.rank() == comm.size() - 1 ? all : std::vector<Molecule>{};
  const auto before = checksum(comm, own);
  for (int round = 0; round < 8; ++round) {
    exchange.reset(fixture::any_decomposition(draw, box, comm.size()));
    const Region region = exchange.decomposition().region(comm.rank());
    const auto arrived = exchange.redistribute(take_leavers(own, region));
    own.insert(own.end(), arrived.begin(), arrived.end());
    CHECK(std::ranges::all_of(own, [&](const Molecule& one) { return region.contains(one.position); }));
    CHECK(checksum(comm, own) == before);
    std::ranges::sort(own, {}, &Molecule::id);
    CHECK((own == own_of(all, region)));
  }
}

MPI_CASE("a molecule that nobody owns is named on all ranks", ranks{1, 2, 3, 7}) {
  const Vec3 box{10, 10, 10};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Vec3& place : {Vec3{nan, 1, 1}, {1, 25, 1}}) {
    Exchange exchange(comm, Decomposition::regular(box, comm.size()), 1);
    std::vector<Molecule> leavers;
    if (comm.rank() == comm.size() - 1)
      leavers = {{.position = place, .velocity = {}, .id = 815},
                 {.position = {5, 5, 5}, .velocity = {}, .id = 4}};
    const auto message_of = [](const auto& action) {
      try {
        action();
      } catch (const Error& error) {
        CHECK(error.info().kind == ErrorKind::unstable);
        return error.info().message;
      }
      return std::string();
    };
    const auto arrived = exchange.migrate(leavers);
    const auto together = message_of([&] { mpi::agree(comm, exchange.lost()); });
    CHECK(together.find("molecule 815 at (") == 0);
    CHECK(together.find("is not in the box") != std::string::npos);
    Exchange again(comm, Decomposition::regular(box, comm.size()), 1);
    CHECK(message_of([&] { static_cast<void>(again.redistribute(leavers)); }) == together);
  }
}

MPI_CASE("a molecule that jumps over a neighbour is named", ranks{3, 4, 7}) {
  Exchange exchange(comm, Decomposition::regular({40, 4, 4}, comm.size()), 1);
  const Vec3 place{20.5, 1, 1};
  std::vector<Molecule> leavers;
  if (comm.rank() == 0) leavers = {{.position = place, .velocity = {}, .id = 12}};
  const auto arrived = exchange.migrate(leavers);
  const bool neighbours = comm.size() == 3;  // all of them are, in a ring
  CHECK(arrived.empty() == !(neighbours && exchange.decomposition().owner(place) == comm.rank()));
  CHECK(exchange.lost().has_value() == (!neighbours && comm.rank() == 0));
  if (exchange.lost())
    CHECK(exchange.lost()->message == "molecule 12 at (20.5, 1, 1) moved beyond the neighbours in one step");
}

MPI_CASE("halos grow and shrink from step to step", ranks{2, 3}) {
  const Vec3 box{6, 6, 6};
  const double reach = 1;
  Exchange exchange(comm, Decomposition::regular(box, comm.size()), reach);
  const Region region = exchange.decomposition().region(comm.rank());
  fixture::Draw draw(1);
  for (const int count : {0, 10, 3000, 0, 10000, 500, 15000}) {
    const auto all = numbered(fixture::any_positions(draw, {{}, box}, count));
    std::size_t expected = 0;
    for (const Molecule& molecule : all)
      for (int image = 0; image < 27; ++image) {
        const Vec3 shift{(image % 3 - 1) * box[0], (image / 3 % 3 - 1) * box[1], (image / 9 - 1) * box[2]};
        const Vec3 r = molecule.position + shift;
        expected += !region.contains(r) && outside_by(region, r) <= reach ? 1 : 0;
      }
    CHECK(halo_of(exchange, own_of(all, region)).size() == expected);
  }
}

MPI_CASE("regions follow a droplet", ranks{3, 4, 7}) {
  const Vec3 box{48, 48, 48};
  const double cutoff = 2.5;
  Balancer balancer(comm, box, cutoff, {});
  Exchange exchange(comm, Decomposition::regular(box, comm.size()), cutoff);
  int changes = 0;
  for (int step = 0; step < 5; ++step) {
    fixture::Draw draw(5);
    const auto positions = fixture::droplet(draw, box, {14.0 + 7 * step, 13, 16.0 + 4 * step}, 12);
    const auto neighbours = fixture::neighbours(positions, box, cutoff);
    const auto imbalance = [&] {
      return fixture::pair_imbalance(exchange.decomposition(), positions, neighbours);
    };
    const Region region = exchange.decomposition().region(comm.rank());
    CellCounter counter(balancer.grid(), region);
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < positions.size(); ++i)
      if (region.contains(positions[i])) counter.add(positions[i]), pairs += neighbours[i];
    const double before = imbalance();
    const auto next = balancer.improve(counter, static_cast<double>(pairs));
    CHECK(balancer.imbalance() == doctest::Approx(before));
    CHECK(next.has_value() == (before > 1.1));
    if (next) exchange.reset(*next), ++changes;
    const double after = imbalance();
    CHECK(after < 1.15);
    if (step == 0 && comm.size() > 3) CHECK(before > 2);
    if (comm.is_root()) MESSAGE(comm.size() << " ranks, step " << step << ": " << before << " -> " << after);
  }
  CHECK(changes > 3);
}

MPI_CASE("all ranks plan the same, and again the same", ranks{1, 2, 3, 7}) {
  const Vec3 box{30, 20, 25};
  fixture::Draw draw(13);
  const auto positions = fixture::droplet(draw, box, {5, 6, 7}, 8);
  const auto start = Decomposition::regular(box, comm.size());
  const auto plan_from = [&](const Decomposition& current) {
    const Balancer balancer(comm, box, 2.5, {});
    CellCounter counter(balancer.grid(), current.region(comm.rank()));
    for (const Vec3& r : positions)
      if (current.region(comm.rank()).contains(r)) counter.add(r);
    return balancer.plan(counter);
  };
  const auto plan = plan_from(start);
  CHECK(plan.ranks() == comm.size());
  for (const std::int64_t number : plan.numbers()) CHECK(mpi::max(comm, number) == mpi::min(comm, number));
  CHECK((plan_from(plan) == plan));  // whoever counts
}

}  // namespace tailrace::molecules
