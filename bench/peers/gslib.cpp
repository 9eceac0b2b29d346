// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/inspection.hpp"
#include "peers/libraries.hpp"

// Its headers define names such as `swap` and `index` as macros: they come last.
extern "C" {
#include <gslib.h>  // NOLINT
}

namespace tailrace::bench {

namespace {

/// Owned values have the numbers of the space, from 1 on; landing slots have them negative: they take and do
/// not give, or transposed give and do not take.
class GatherScatter final : public HandWritten {
 public:
  GatherScatter(mpi::CommView comm, const IndexLoad& load, int components, gs_method method)
      : components_(static_cast<unsigned>(components)) {
    const auto mine = exchange::inspect(load.distribution, comm.rank(), load.indices);
    std::vector<slong> ids;
    for (std::int64_t local = 0; local < mine.owned; ++local)
      ids.push_back(static_cast<slong>(load.distribution.global(comm.rank(), local) + 1));
    for (const auto& source : mine.sources)
      for (std::int32_t i = source.first; i < source.first + source.count; ++i)
        ids.push_back(-static_cast<slong>(
            load.distribution.global(source.rank, mine.wanted[static_cast<std::size_t>(i)]) + 1));
    struct comm c {};
    comm_init(&c, comm.get());
    handle_ = gs_setup(ids.data(), static_cast<uint>(ids.size()), &c, 0, method, 0);
    comm_free(&c);
  }
  ~GatherScatter() override {
    gs_free(handle_);
    buffer_free(&buffer_);
  }
  void gather(std::vector<double>& x) override { run(x, 0); }
  bool scatter_add(std::vector<double>& x) override {
    run(x, 1);
    return true;
  }

 private:
  void run(std::vector<double>& x, unsigned transpose) {
    if (components_ == 1)
      gs(x.data(), gs_double, gs_add, transpose, handle_, &buffer_);
    else
      gs_vec(x.data(), components_, gs_double, gs_add, transpose, handle_, &buffer_);
  }
  unsigned components_;
  gs_data* handle_ = nullptr;
  buffer buffer_{};
};

}  // namespace

Library gslib_library(mpi::CommView comm, const IndexLoad& load, int components) {
  Library library{"gslib", TAILRACE_PEER_GSLIB, {}};
  const auto add = [&](const char* name, gs_method method) {
    library.peers.push_back(
        {name, [=, &load] { return std::make_unique<GatherScatter>(comm, load, components, method); }});
  };
  add("gslib-pairwise", gs_pairwise);
  add("gslib-crystal", gs_crystal_router);
  constexpr std::int64_t largest_dense = 100'000;  // gslib itself tries an all-reduce only below
  if (load.distribution.size() < largest_dense) add("gslib-allreduce", gs_all_reduce);
  return library;
}

}  // namespace tailrace::bench
