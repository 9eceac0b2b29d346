// SPDX-License-Identifier: BSD-3-Clause
// Assembles the load vector of linear finite elements, the integral of f times each node's basis function, on
// a mesh of tetrahedra that is distributed by elements; the sums have the same bits on any number of ranks. A
// file has "NODES ELEMENTS", a line "x y z" per node, a line of four nodes, from 0 on, per element: mpirun -n
// 2 assembly mesh.txt load.txt
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <tailrace/error.hpp>
#include <tailrace/exchange/access_map.hpp>
#include <vector>

using namespace tailrace;
using Node = std::array<double, 3>;

constexpr std::size_t corners = 4;

// What a rank has of the mesh: the coordinates of the nodes that it owns, and its elements.
struct Mesh {
  std::int64_t nodes = 0;
  std::vector<double> own_coordinates;
  std::vector<std::int64_t> corner_nodes;
};

Mesh read_mesh(const std::string& path, mpi::CommView comm) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorKind::input, path + " cannot be read", "a file that is there");
  Mesh mesh;
  std::int64_t elements = 0;
  in >> mesh.nodes >> elements;
  if (!in || mesh.nodes < 1 || elements < 0)
    throw Error(ErrorKind::input, path + " is no mesh", "NODES ELEMENTS, nodes, elements");
  const exchange::Block nodes(mesh.nodes, comm.size()), parts(elements, comm.size());
  for (std::int64_t node = 0; node < mesh.nodes && in; ++node) {
    Node at{};
    in >> at[0] >> at[1] >> at[2];
    if (nodes.owner(node) == comm.rank())
      mesh.own_coordinates.insert(mesh.own_coordinates.end(), at.begin(), at.end());
  }
  for (std::int64_t element = 0; element < elements && in; ++element)
    for (std::size_t corner = 0; corner < corners; ++corner) {
      std::int64_t node = -1;
      in >> node;
      if (parts.owner(element) == comm.rank()) mesh.corner_nodes.push_back(node);
    }
  std::string more;
  if (!in || in >> more)
    throw Error(ErrorKind::input, path + " has fewer or more lines than its first one says",
                "NODES ELEMENTS, nodes, elements");
  return mesh;
}

double source(const Node& at) {
  return std::exp(at[0]) * std::sin(3 * at[1]) + at[2];
}

// What each corner of an element gets: the integral of the linear interpolant of f times its basis function.
std::array<double, corners> loads_of(const std::array<Node, corners>& at) {
  std::array<Node, 3> edge{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) edge[i][axis] = at[i + 1][axis] - at[0][axis];
  const auto& [a, b, c] = edge;
  const double volume = std::abs(a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                                 a[2] * (b[0] * c[1] - b[1] * c[0])) /
                        6;
  std::array<double, corners> loads{};
  for (std::size_t i = 0; i < corners; ++i)
    for (std::size_t j = 0; j < corners; ++j) loads[i] += volume / (i == j ? 10 : 20) * source(at[j]);
  return loads;
}

int assemble(mpi::CommView comm, const char* path, const char* result) {
  const Mesh mesh = read_mesh(path, comm);
  auto map = exchange::AccessMap::make(comm, exchange::Block(mesh.nodes, comm.size()), mesh.corner_nodes,
                                       {.order = exchange::Order::partition_free});
  // The coordinates of all corners: three numbers per node.
  std::vector<double> coordinates(static_cast<std::size_t>(3 * map.array_size()));
  std::copy(mesh.own_coordinates.begin(), mesh.own_coordinates.end(), coordinates.begin());
  map.begin_gather(map.view(std::span(coordinates), 3)).finish();

  std::vector<double> contributions;
  for (std::size_t first = 0; first < mesh.corner_nodes.size(); first += corners) {
    std::array<Node, corners> at{};
    for (std::size_t i = 0; i < corners; ++i) {
      const double* const node = coordinates.data() + 3 * map.slots()[first + i];
      at[i] = {node[0], node[1], node[2]};
    }
    const auto loads = loads_of(at);
    contributions.insert(contributions.end(), loads.begin(), loads.end());
  }
  std::vector<double> load(static_cast<std::size_t>(map.array_size()));
  map.begin_scatter_add(
         exchange::Contribution{exchange::field(std::span(contributions)), map.view(std::span(load))})
      .finish();

  double total = 0;
  for (std::int64_t i = 0; i < map.owned(); ++i) total += load[static_cast<std::size_t>(i)];
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) {
      std::ofstream out(result, rank == 0 ? std::ios::trunc : std::ios::app);
      out.precision(std::numeric_limits<double>::max_digits10);
      for (std::int64_t i = 0; i < map.owned(); ++i) out << load[static_cast<std::size_t>(i)] << '\n';
    }
    mpi::barrier(comm);
  }
  total = mpi::sum(comm, total);
  if (comm.is_root()) std::printf("%lld nodes, integral %.9g\n", static_cast<long long>(mesh.nodes), total);
  return 0;
}

int main(int argc, char** argv) {
  int granted = 0, status = 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  try {
    if (argc != 3) throw Error(ErrorKind::usage, "two words are wanted", "assembly MESH RESULT");
    status = assemble(mpi::CommView(MPI_COMM_WORLD), argv[1], argv[2]);
  } catch (const Error& error) {  // the same on all ranks
    if (mpi::CommView(MPI_COMM_WORLD).is_root()) std::fprintf(stderr, "assembly: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
