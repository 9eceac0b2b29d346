// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <petscsf.h>
#include <petscvec.h>

#include <algorithm>

#include "exchange/inspection.hpp"
#include "peers/libraries.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench {

namespace {

void check(PetscErrorCode code, const char* what) {
  if (code != 0) throw Error(ErrorKind::internal, fmt::format("PETSc: {} failed with {}", what, code));
}

/// Initialises PETSc once, on the ranks of the first communicator.
void start_petsc(mpi::CommView comm) {
  PetscBool started = PETSC_FALSE;
  check(PetscInitialized(&started), "PetscInitialized");
  if (started == PETSC_TRUE) return;
  PETSC_COMM_WORLD = comm.get();
  check(PetscInitializeNoArguments(), "PetscInitializeNoArguments");
  check(PetscPopSignalHandler(), "PetscPopSignalHandler");
}

class StarForest final : public HandWritten {
 public:
  StarForest(mpi::CommView comm, const IndexLoad& load, int components, PetscSFType type) {
    const auto mine = exchange::inspect(load.distribution, comm.rank(), load.indices);
    std::vector<PetscInt> leaves;
    std::vector<PetscSFNode> roots;
    for (const auto& source : mine.sources)
      for (std::int32_t i = source.first; i < source.first + source.count; ++i) {
        leaves.push_back(mine.owned + i);
        roots.push_back({source.rank, static_cast<PetscInt>(mine.wanted[static_cast<std::size_t>(i)])});
      }
    check(PetscSFCreate(comm.get(), &forest_), "PetscSFCreate");
    check(PetscSFSetType(forest_, type), "PetscSFSetType");
    check(PetscSFSetGraph(forest_, mine.owned, static_cast<PetscInt>(leaves.size()), leaves.data(),
                          PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES),
          "PetscSFSetGraph");
    check(PetscSFSetUp(forest_), "PetscSFSetUp");
    MPI_Type_contiguous(components, MPI_DOUBLE, &entry_);
    MPI_Type_commit(&entry_);
    if (components == 1) entry_ = MPI_DOUBLE;
  }
  ~StarForest() override { PetscSFDestroy(&forest_); }

  void gather(std::vector<double>& x) override {
    check(PetscSFBcastBegin(forest_, entry_, x.data(), x.data(), MPI_REPLACE), "PetscSFBcastBegin");
    check(PetscSFBcastEnd(forest_, entry_, x.data(), x.data(), MPI_REPLACE), "PetscSFBcastEnd");
  }
  bool scatter_add(std::vector<double>& x) override {
    check(PetscSFReduceBegin(forest_, entry_, x.data(), x.data(), MPI_SUM), "PetscSFReduceBegin");
    check(PetscSFReduceEnd(forest_, entry_, x.data(), x.data(), MPI_SUM), "PetscSFReduceEnd");
    return true;
  }

 private:
  PetscSF forest_ = nullptr;
  MPI_Datatype entry_ = MPI_DATATYPE_NULL;
};

/// Owned values and landing slots as two vectors in the same array.
class Scatter final : public HandWritten {
 public:
  Scatter(mpi::CommView comm, const IndexLoad& load, int components)
      : block_(components), owned_(load.distribution.count(comm.rank())) {
    const auto mine = exchange::inspect(load.distribution, comm.rank(), load.indices);
    std::vector<PetscInt> wanted;
    for (const auto& source : mine.sources)
      for (std::int32_t i = source.first; i < source.first + source.count; ++i)
        wanted.push_back(static_cast<PetscInt>(
            load.distribution.global(source.rank, mine.wanted[static_cast<std::size_t>(i)])));
    const auto count = static_cast<PetscInt>(wanted.size());
    check(VecCreateMPIWithArray(comm.get(), block_, static_cast<PetscInt>(owned_) * block_, PETSC_DECIDE,
                                nullptr, &values_),
          "VecCreateMPIWithArray");
    check(VecCreateSeqWithArray(PETSC_COMM_SELF, block_, count * block_, nullptr, &landing_),
          "VecCreateSeqWithArray");
    IS from = nullptr, to = nullptr;
    check(ISCreateBlock(PETSC_COMM_SELF, block_, count, wanted.data(), PETSC_COPY_VALUES, &from),
          "ISCreateBlock");
    check(ISCreateStride(PETSC_COMM_SELF, count * block_, 0, 1, &to), "ISCreateStride");
    check(VecScatterCreate(values_, from, landing_, to, &scatter_), "VecScatterCreate");
    check(ISDestroy(&from), "ISDestroy");
    check(ISDestroy(&to), "ISDestroy");
  }
  ~Scatter() override {
    VecScatterDestroy(&scatter_);
    VecDestroy(&values_);
    VecDestroy(&landing_);
  }
  void gather(std::vector<double>& x) override {
    place(x);
    check(VecScatterBegin(scatter_, values_, landing_, INSERT_VALUES, SCATTER_FORWARD), "VecScatterBegin");
    check(VecScatterEnd(scatter_, values_, landing_, INSERT_VALUES, SCATTER_FORWARD), "VecScatterEnd");
    take_back();
  }
  bool scatter_add(std::vector<double>& x) override {
    place(x);
    check(VecScatterBegin(scatter_, landing_, values_, ADD_VALUES, SCATTER_REVERSE), "VecScatterBegin");
    check(VecScatterEnd(scatter_, landing_, values_, ADD_VALUES, SCATTER_REVERSE), "VecScatterEnd");
    take_back();
    return true;
  }

 private:
  void place(std::vector<double>& x) {
    check(VecPlaceArray(values_, x.data()), "VecPlaceArray");
    check(VecPlaceArray(landing_, x.data() + owned_ * block_), "VecPlaceArray");
  }
  void take_back() {
    check(VecResetArray(values_), "VecResetArray");
    check(VecResetArray(landing_), "VecResetArray");
  }
  PetscInt block_;
  std::int64_t owned_;
  Vec values_ = nullptr, landing_ = nullptr;
  VecScatter scatter_ = nullptr;
};

}  // namespace

Library petsc_library(mpi::CommView comm, const IndexLoad& load, int components) {
  start_petsc(comm);
  Library library{
      "PETSc", fmt::format("{}.{}.{}", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR), {}};
  for (const auto* const type : {PETSCSFBASIC, PETSCSFNEIGHBOR, PETSCSFWINDOW})
    library.peers.push_back({fmt::format("petsc-sf-{}", type), [=, &load] {
                               return std::make_unique<StarForest>(comm, load, components, type);
                             }});
  library.peers.push_back(
      {"petsc-vecscatter", [=, &load] { return std::make_unique<Scatter>(comm, load, components); }});
  return library;
}

}  // namespace tailrace::bench
