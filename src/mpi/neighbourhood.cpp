// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/neighbourhood.hpp"

#include <algorithm>
#include <climits>

#include "mpi/native.hpp"

namespace tailrace::mpi {

namespace {

/// A type of that many bytes, also beyond what a count holds.
MPI_Datatype type_of(std::size_t bytes) {
  constexpr std::size_t part = std::size_t{1} << 30;
  const std::size_t parts = bytes / part, rest = bytes % part;
  MPI_Datatype many = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  check(MPI_Type_vector(static_cast<int>(parts), static_cast<int>(part), static_cast<int>(part), MPI_BYTE,
                        &many),
        "MPI_Type_vector");
  const int lengths[] = {1, static_cast<int>(rest)};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(parts * part)};
  const MPI_Datatype types[] = {many, MPI_BYTE};
  const int code = MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_free(&many);
  check(code, "MPI_Type_create_struct");
  check(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

}  // namespace

/// What MPI knows of one side.
struct Neighbourhood::Side {
  std::vector<int> counts;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() { free_types(); }
  void set(std::span<const std::span<std::byte>> parts);
  void fill_up(std::size_t parts);
  void free_types() noexcept;
};

void Neighbourhood::Side::set(std::span<const std::span<std::byte>> parts) {
  free_types();
  counts.clear(), places.clear(), types.clear();
  for (const auto part : parts) {
    const bool fits = part.size() <= INT_MAX;
    counts.push_back(fits ? static_cast<int>(part.size()) : 1);
    types.push_back(fits ? MPI_BYTE : type_of(part.size()));
    MPI_Aint place = 0;
    check(MPI_Get_address(part.data(), &place), "MPI_Get_address");
    places.push_back(place);
  }
}

/// Has entries for so many parts, those behind the last one empty: MPICH 4.0 looks at the types of one side
/// for each rank of the other, and at null pointers.
void Neighbourhood::Side::fill_up(std::size_t parts) {
  counts.resize(parts, 0);
  places.resize(parts, 0);
  types.resize(parts, MPI_BYTE);
}

void Neighbourhood::Side::free_types() noexcept {
  for (MPI_Datatype& type : types)
    if (type != MPI_BYTE) MPI_Type_free(&type);
  types.clear();
}

Neighbourhood::Neighbourhood(CommView comm, const std::vector<int>& to, const std::vector<int>& from)
    : comm_(Comm::neighbours(comm, to, from)),
      out_(std::make_unique<Side>()),
      in_(std::make_unique<Side>()) {}

Neighbourhood::~Neighbourhood() = default;

Request Neighbourhood::start(std::span<const std::span<std::byte>> out,
                             std::span<const std::span<std::byte>> in) {
  out_->set(out);
  in_->set(in);
  const std::size_t parts = std::max(out.size(), in.size()) + 1;
  out_->fill_up(parts);
  in_->fill_up(parts);
  Request request = Request::none;
  check(MPI_Ineighbor_alltoallw(MPI_BOTTOM, out_->counts.data(), out_->places.data(), out_->types.data(),
                                MPI_BOTTOM, in_->counts.data(), in_->places.data(), in_->types.data(),
                                comm_.view().get(), Lent(request)),
        "MPI_Ineighbor_alltoallw");
  return request;
}

}  // namespace tailrace::mpi
