// SPDX-License-Identifier: BSD-3-Clause
#include "sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "tailrace/error.hpp"

namespace tailrace::poisson {

void copy_shared(const double* from, const Box& from_box, double* to, const Box& to_box) {
  const Box shared = intersect(from_box, to_box);
  if (shared.empty()) return;
  const auto at = [](const Box& box, const Index3& point) {
    const Index3 n = box.extents();
    return ((point.z - box.lo.z) * n.y + point.y - box.lo.y) * n.x + point.x - box.lo.x;
  };
  for (auto z = shared.lo.z; z < shared.hi.z; ++z)
    for (auto y = shared.lo.y; y < shared.hi.y; ++y) {
      const Index3 row{shared.lo.x, y, z};
      std::copy_n(from + at(from_box, row), shared.hi.x - shared.lo.x, to + at(to_box, row));
    }
}

/// Calls the looks of a program in their order: each once all ranks have what it finds, so that it may wait
/// for others, which come too.
class Sweeps::Pass {
 public:
  Pass(Gathering& gathering, mpi::OpenBarrier& barrier, std::size_t looks, const Look& look)
      : gathering_(gathering), barrier_(barrier), looks_(looks), look_(look) {}

  /// Between two fragments. Returns whether the sweeps that are left are for nothing.
  bool attend() {
    if (done() || !entered() || !barrier_.opens()) return false;
    take();
    return ended_ && next_ < looks_;
  }
  /// Takes the looks that are left when no fragment will run.
  void finish() {
    while (!done() && entered()) {
      barrier_.wait();
      take();
    }
  }
  /// After the program.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  [[nodiscard]] bool done() const noexcept { return ended_ || next_ == looks_; }
  /// Whether this rank has what the next look finds.
  bool entered() {
    if (!barrier_.entered() && gathering_.complete(number())) barrier_.enter();
    return barrier_.entered();
  }
  [[nodiscard]] int number() const noexcept { return static_cast<int>(next_) + 1; }
  void take() {
    auto found = gathering_.take(number());
    try {
      ended_ = !look_(next_, std::move(found));
    } catch (...) {  // the program ends in good order before it is thrown
      error_ = std::current_exception(), ended_ = true;
    }
    ++next_;
  }

  Gathering& gathering_;
  mpi::OpenBarrier& barrier_;
  std::size_t looks_, next_ = 0;
  const Look& look_;
  bool ended_ = false;
  std::exception_ptr error_;
};

Sweeps::Sweeps(mpi::CommView comm, const Problem& problem, const BlockGrid& blocks, const State& state,
               fragments::Options how)
    : comm_(comm),
      how_(std::move(how)),
      blocks_(blocks),
      method_(problem.method),
      kernels_(problem, blocks),
      barrier_(comm),
      sweeps_(describe(problem.method, {problem, kernels_, blocks, state, ends_, gathering_})) {
  if (method_ == Method::conjugate_gradients)
    evaluation_ = describe(Method::jacobi, {problem, kernels_, blocks, state, ends_, gathering_});
}

void Sweeps::execute(const fragments::Program& program, Method method, const std::vector<int>& looks,
                     const Look& look) {
  const int substeps = method == Method::gauss_seidel ? 2 : 1;
  ends_ = {0};
  for (const int sweeps : looks) ends_.push_back(substeps * sweeps);
  const std::size_t fields = method == Method::conjugate_gradients ? 4 : 2;
  gathering_.begin(fields * static_cast<std::size_t>(blocks_.own_blocks(comm_.rank()).volume()));
  Pass pass(gathering_, barrier_, looks.size(), look);
  auto how = how_;
  how.between = [&pass](bool over) {
    if (!over) return pass.attend();
    pass.finish();
    return true;
  };
  const auto outcome =
      fragments::run(comm_, program, {fmt::format("{}", ends_.back()), fmt::format("{}", looks.size())}, how);
  if (!outcome.errors.empty())
    throw Error(ErrorInfo{.kind = ErrorKind::internal,
                          .message = fmt::format("the fragment program failed: {}", outcome.errors.front()),
                          .path = {},
                          .rank = 0,
                          .hint = {}});
  pass.rethrow();
}

void Sweeps::run(const std::vector<int>& looks, const Look& look) {
  execute(sweeps_, method_, looks, look);
}

Found Sweeps::evaluate() {
  Found all;
  const bool apart = evaluation_.has_value();
  execute(apart ? *evaluation_ : sweeps_, apart ? Method::jacobi : method_, {0},
          [&](std::size_t, Found found) {
            all = std::move(found);
            return true;
          });
  return all;
}

}  // namespace tailrace::poisson
