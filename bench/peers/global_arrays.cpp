// SPDX-License-Identifier: BSD-3-Clause
extern "C" {
#include <ga.h>
#include <macdecls.h>
}

#include <fmt/format.h>

#include <algorithm>

#include "exchange/inspection.hpp"
#include "peers/libraries.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench {

namespace {

void start_global_arrays() {
  if (GA_Initialized() != 0) return;
  GA_Initialize();
  MA_init(C_DBL, 1 << 22, 1 << 22);
}

/// Values in a global array with this load's owners, read element by element.
class Elements final : public HandWritten {
 public:
  Elements(mpi::CommView comm, const IndexLoad& load) {
    const auto mine = exchange::inspect(load.distribution, comm.rank(), load.indices);
    owned_ = mine.owned;
    std::vector<int> starts;
    for (int rank = 0; rank < comm.size(); ++rank)
      starts.push_back(static_cast<int>(load.distribution.count(rank) > 0 ? load.distribution.global(rank, 0)
                                                                          : load.distribution.size()));
    int size = static_cast<int>(load.distribution.size()), blocks = comm.size();
    static char name[] = "values";
    array_ = NGA_Create_irreg(C_DBL, 1, &size, name, &blocks, starts.data());
    if (array_ == 0) throw Error(ErrorKind::internal, "Global Arrays: no array");
    for (const auto& source : mine.sources)
      for (std::int32_t i = source.first; i < source.first + source.count; ++i)
        places_.push_back(static_cast<int>(
            load.distribution.global(source.rank, mine.wanted[static_cast<std::size_t>(i)])));
    for (int& place : places_) pointers_.push_back(&place);
    first_ = owned_ > 0 ? starts[static_cast<std::size_t>(comm.rank())] : 0;
  }
  ~Elements() override { GA_Destroy(array_); }
  void gather(std::vector<double>& x) override {
    write_own(x);
    GA_Sync();
    if (!places_.empty())
      NGA_Gather(array_, x.data() + owned_, pointers_.data(), static_cast<int>(places_.size()));
    GA_Sync();
  }
  bool scatter_add(std::vector<double>& x) override {
    double one = 1;
    write_own(x);
    GA_Sync();
    if (!places_.empty())
      NGA_Scatter_acc(array_, x.data() + owned_, pointers_.data(), static_cast<int>(places_.size()), &one);
    GA_Sync();
    move_own([&](double* values) { std::copy_n(values, owned_, x.begin()); });
    return true;
  }

 private:
  template <class Move>
  void move_own(Move move) {
    if (owned_ == 0) return;
    int low = first_, high = first_ + static_cast<int>(owned_) - 1, leading = 1;
    void* values = nullptr;
    NGA_Access(array_, &low, &high, static_cast<void*>(&values), &leading);
    move(static_cast<double*>(values));
    NGA_Release_update(array_, &low, &high);
  }
  void write_own(const std::vector<double>& x) {
    move_own([&](double* values) { std::copy_n(x.begin(), owned_, values); });
  }
  int array_ = 0, first_ = 0;
  std::int64_t owned_ = 0;
  std::vector<int> places_;
  std::vector<int*> pointers_;
};

}  // namespace

Library global_arrays_library(mpi::CommView comm, const IndexLoad& load, int components) {
  Library library{"Global Arrays", "5.8 or later over ARMCI-MPI", {}};
  if (components != 1) {
    library.version += "; left out: a value is one number there";
    return library;
  }
  start_global_arrays();
  library.peers.push_back({"global-arrays", [=, &load] { return std::make_unique<Elements>(comm, load); }});
  return library;
}

}  // namespace tailrace::bench
