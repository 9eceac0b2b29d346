// SPDX-License-Identifier: BSD-3-Clause
// How fast slabs change between the z and the y axis, and what three ways of moving the strided blocks cost:
// MPI's own types (as in layout::Transpose), packing into contiguous messages, and one message per contiguous
// run.
//   mpirun -n 2 bench-layout-transpose [NX NY NZ [BATCHES [ROUNDS]]]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "base/system.hpp"
#include "layout/transpose.hpp"
#include "mpi/message.hpp"

using namespace tailrace;
using namespace tailrace::layout;

namespace {

using Value = std::complex<float>;
constexpr std::int64_t value_bytes = sizeof(Value);

struct Side {
  Decomposition decomposition;
  Box box;
  AlignedVector<Value> values;

  Side(Decomposition d, int rank)
      : decomposition(d), box(d.box(rank)), values(static_cast<std::size_t>(box.volume()), Value(1)) {}
  [[nodiscard]] std::byte* at(Index3 point) {
    const Index3 n = box.extents();
    const auto index = ((point.z - box.lo.z) * n.y + point.y - box.lo.y) * n.x + point.x - box.lo.x;
    return reinterpret_cast<std::byte*>(values.data() + index);
  }
};

/// A block of whole rows that goes to or comes from a peer: one contiguous run per plane.
struct Block {
  int peer;
  Box box;
  [[nodiscard]] std::int64_t run_bytes() const { return box.x().size() * box.y().size() * value_bytes; }
};

std::vector<Block> blocks_between(const Box& mine, const Decomposition& others, int rank) {
  std::vector<Block> blocks;
  for (const int peer : others.ranks_meeting(mine))
    if (peer != rank) blocks.push_back({peer, intersect(mine, others.box(peer))});
  return blocks;
}

void copy_own(Side& from, Side& to) {
  const Box own = intersect(from.box, to.box);
  for (std::int64_t z = own.lo.z; z < own.hi.z; ++z)
    std::memcpy(to.at({0, own.lo.y, z}), from.at({0, own.lo.y, z}),
                static_cast<std::size_t>(own.x().size() * own.y().size() * value_bytes));
}

/// One message per contiguous run, straight from and to the arrays.
void move_by_runs(mpi::CommView comm, Side& from, Side& to) {
  std::vector<mpi::Request> requests;
  std::vector<mpi::BlockType> types;
  for (const Block& block : blocks_between(to.box, from.decomposition, comm.rank())) {
    types.emplace_back(mpi::BlockShape{.row_bytes = block.run_bytes()});
    for (auto z = block.box.lo.z; z < block.box.hi.z; ++z)
      requests.push_back(mpi::start_receive(comm, to.at({0, block.box.lo.y, z}), types.back().get(),
                                            block.peer, static_cast<int>(z)));
  }
  for (const Block& block : blocks_between(from.box, to.decomposition, comm.rank())) {
    types.emplace_back(mpi::BlockShape{.row_bytes = block.run_bytes()});
    for (auto z = block.box.lo.z; z < block.box.hi.z; ++z)
      requests.push_back(mpi::start_send(comm, from.at({0, block.box.lo.y, z}), types.back().get(),
                                         block.peer, static_cast<int>(z)));
  }
  copy_own(from, to);
  mpi::wait_all(requests);
}

/// One contiguous message per peer, packed and unpacked here.
class PackedMove {
 public:
  PackedMove(mpi::CommView comm, Side& from, Side& to)
      : comm_(comm), from_(from), to_(to), sends_(stages(from, to)), receives_(stages(to, from)) {}

  void run() {
    std::vector<mpi::Request> requests;
    for (Stage& stage : receives_)
      requests.push_back(
          mpi::start_receive(comm_, stage.bytes.data(), stage.type.get(), stage.block.peer, 0));
    for (Stage& stage : sends_) {
      for_each_run(stage, from_, [](std::byte* staged, std::byte* placed, std::size_t n) {
        std::memcpy(staged, placed, n);
      });
      requests.push_back(mpi::start_send(comm_, stage.bytes.data(), stage.type.get(), stage.block.peer, 0));
    }
    copy_own(from_, to_);
    mpi::wait_all(requests);
    for (Stage& stage : receives_)
      for_each_run(stage, to_, [](std::byte* staged, std::byte* placed, std::size_t n) {
        std::memcpy(placed, staged, n);
      });
  }

 private:
  struct Stage {
    Block block;
    AlignedVector<std::byte> bytes;
    mpi::BlockType type;
  };
  std::vector<Stage> stages(const Side& side, const Side& other) {
    std::vector<Stage> list;
    for (const Block& block : blocks_between(side.box, other.decomposition, comm_.rank())) {
      const auto bytes = block.box.volume() * value_bytes;
      list.push_back({block, AlignedVector<std::byte>(static_cast<std::size_t>(bytes)),
                      mpi::BlockType({.row_bytes = bytes})});
    }
    return list;
  }
  template <class Copy>
  static void for_each_run(Stage& stage, Side& side, Copy copy) {
    const auto bytes = static_cast<std::size_t>(stage.block.run_bytes());
    std::byte* staged = stage.bytes.data();
    for (auto z = stage.block.box.lo.z; z < stage.block.box.hi.z; ++z, staged += bytes)
      copy(staged, side.at({0, stage.block.box.lo.y, z}), bytes);
  }

  mpi::CommView comm_;
  Side &from_, &to_;
  std::vector<Stage> sends_, receives_;
};

struct Way {
  std::string name;
  std::function<void()> run;
  std::vector<double> times_s;
};

void add_ways(std::vector<Way>& ways, const std::string& direction, mpi::CommView comm, Side& from, Side& to,
              Axis axis, int batches) {
  const auto transpose =
      std::make_shared<Transpose>(comm, TransposeConfig{.from = from.decomposition,
                                                        .to = to.decomposition,
                                                        .from_layout = LocalLayout::dense(from.box),
                                                        .to_layout = LocalLayout::dense(to.box),
                                                        .element_bytes = sizeof(Value),
                                                        .batch_axis = axis,
                                                        .batches = batches});
  ways.push_back({fmt::format("{} Transpose, {} batches", direction, batches),
                  [&from, &to, transpose, batches] {
                    auto flight = transpose->begin(from.values.data(), to.values.data());
                    for (int k = 0; k < batches; ++k) flight.start(k);
                    flight.finish();
                  },
                  {}});
  const auto packed = std::make_shared<PackedMove>(comm, from, to);
  ways.push_back({direction + " packed", [packed] { packed->run(); }, {}});
  ways.push_back({direction + " message per run", [comm, &from, &to] { move_by_runs(comm, from, to); }, {}});
}

void measure(std::vector<Way>& ways, mpi::CommView comm, int rounds) {
  constexpr int warm_up = 3;
  for (int round = -warm_up; round < rounds; ++round)
    for (Way& way : ways) {
      mpi::barrier(comm);
      const double start_s = monotonic_s();
      way.run();
      const double slowest_s = mpi::max(comm, monotonic_s() - start_s);
      if (round >= 0) way.times_s.push_back(slowest_s);
    }
}

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const mpi::CommView comm = environment.world();
  std::array<int, 5> numbers{65, 128, 128, 4, 100};
  for (std::size_t i = 0; i < numbers.size() && static_cast<int>(i) + 1 < argc; ++i)
    numbers[i] = std::stoi(argv[i + 1]);
  const Index3 extents{numbers[0], numbers[1], numbers[2]};
  Side z(Decomposition::slab(extents, Axis::z, comm.size()), comm.rank());
  Side y(Decomposition::slab(extents, Axis::y, comm.size()), comm.rank());
  std::vector<Way> ways;
  for (const int batches : {1, numbers[3]}) {
    add_ways(ways, "z to y", comm, z, y, Axis::z, batches);
    add_ways(ways, "y to z", comm, y, z, Axis::y, batches);
  }
  measure(ways, comm, numbers[4]);
  if (!comm.is_root()) return 0;
  fmt::print("{}, {} ranks, {} x {} x {} complex<float>, median (fastest) of {} rounds\n",
             mpi::Environment::library_version(), comm.size(), extents.x, extents.y, extents.z, numbers[4]);
  for (Way& way : ways) {
    std::sort(way.times_s.begin(), way.times_s.end());
    fmt::print("  {:28} {:8.3f} ms ({:.3f})\n", way.name, 1e3 * way.times_s[way.times_s.size() / 2],
               1e3 * way.times_s.front());
  }
  return 0;
}
