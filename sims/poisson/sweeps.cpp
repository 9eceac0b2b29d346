// SPDX-License-Identifier: BSD-3-Clause
#include "sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "description.hpp"
#include "tailrace/error.hpp"

namespace tailrace::poisson {

using fragments::Program;
using fragments::Real;

Values State::copy(const AlignedVector<double>& array, const Box& box) const {
  const Index3 n = own.extents(), m = box.extents();
  auto values = Values::for_overwrite(static_cast<std::size_t>(m.volume()));
  double* to = values.values().data();
  for (std::int64_t z = box.lo.z - own.lo.z; z < box.hi.z - own.lo.z; ++z)
    for (std::int64_t y = box.lo.y - own.lo.y; y < box.hi.y - own.lo.y; ++y)
      to = std::copy_n(array.data() + (z * n.y + y) * n.x + box.lo.x - own.lo.x, m.x, to);
  return values;
}

void State::put(AlignedVector<double>& array, const Box& box, const Values& values) const {
  const Index3 n = own.extents(), m = box.extents();
  const double* from = values.begin();
  for (std::int64_t z = box.lo.z - own.lo.z; z < box.hi.z - own.lo.z; ++z)
    for (std::int64_t y = box.lo.y - own.lo.y; y < box.hi.y - own.lo.y; ++y, from += m.x)
      std::copy_n(from, m.x, array.data() + (z * n.y + y) * n.x + box.lo.x - own.lo.x);
}

namespace {

/// The quotient, or 0 where there is nothing left to divide by: the solution is exact.
double quotient(double a, double b) {
  return b != 0 ? a / b : 0;
}

using EdgesBody = fragments::Atomic<std::tuple<int, Values>, std::tuple<Values>>;

/// The data fragments of conjugate gradients, indexed by sweep and block, the last two by sweep and rank.
struct Vectors {
  explicit Vectors(Scope& main)
      : u(main.data<Values>("u")),
        r(main.data<Values>("r")),
        p(main.data<Values>("p")),
        q(main.data<Values>("q")),
        edge(main.data<Values>("edge_p")),
        pq(main.data<double>("pq")),
        rr(main.data<double>("rr")),
        alpha(main.data<double>("alpha")),
        beta(main.data<double>("beta")) {}
  Data<Values> u, r, p, q, edge;
  Data<double> pq, rr, alpha, beta;
};

/// The parts of a program that has one of the methods. Bodies that read or change the state of a rank are
/// where their blocks are; those of sweeps may move.
template <int dimensions>
class Describer {
 public:
  Describer(Program& program, const Problem& problem, const Kernels& kernels, const BlockGrid& blocks,
            State& state)
      : program_(program),
        kernels_(kernels),
        blocks_(blocks),
        layout_(problem.grid, blocks),
        state_(state),
        add_(program.atomic("add", [](int count, double a, double b, double c, double d) {
          return add(count, a, b, c, d);
        })) {}

  void relaxation(Method method);
  void conjugate_gradients();

 private:
  using Sides = std::make_index_sequence<2 * dimensions>;
  template <std::size_t>
  using Edges = Values;

  /// A body that takes the edges of the neighbours behind its other inputs.
  template <class... Lead, class F, std::size_t... side>
  auto stencil(const char* name, F body, std::index_sequence<side...> /*sides*/) {
    return program_.atomic(name, [body](const Lead&... lead, const Edges<side>&... edges) {
      const std::array<const Values*, 2 * dimensions> around{&edges...};
      return body(lead..., Neighbours(around));
    });
  }
  /// A call of such a body.
  template <class Call, std::size_t... side, class... Lead>
  static Call call(Call call, const Data<Values>& edges, const BlockPlace& at,
                   std::index_sequence<side...> /*sides*/, const Lead&... lead) {
    call.with(lead..., edges[at.near[side]]...).on(at.rank);
    return call;
  }
  /// Copies a block out of an array of the state.
  auto load(const char* name, const AlignedVector<double>& array) {
    return program_.atomic(name, [&state = state_, &array, &blocks = blocks_](int number) {
      return state.copy(array, blocks.box(number));
    });
  }
  static double add(int count, double a, double b, double c, double d) {
    const std::array parts{a, b, c, d};
    double sum = a;
    for (int i = 1; i < std::min(count, Layout::fan_in); ++i) sum += parts[static_cast<std::size_t>(i)];
    return sum;
  }
  auto edges_of() {
    return program_.atomic("edges", [&kernels = kernels_](int number, const Values& values) {
      return kernels.edges(number, values);
    });
  }
  /// The next u of Jacobi, or with `halves` of Gauss-Seidel after substep k, and its edges.
  auto relax_body(const char* name, bool halves) {
    return stencil<int, int, Values, Values>(
        name,
        [&kernels = kernels_, halves](int number, int k, const Values& u, const Values& rhs,
                                      const Neighbours& around) {
          const auto next = halves ? kernels.relax(number, (k - 1) % 2, u, rhs, around)
                                   : kernels.jacobi(number, u, rhs, around);
          return std::tuple(next, kernels.edges(number, next));
        },
        Sides());
  }
  auto apply_body() {
    return stencil<int, Values>(
        "apply",
        [&kernels = kernels_](int number, const Values& p, const Neighbours& around) {
          const auto q = kernels.apply(number, p, around);
          return std::tuple(q, dot(p, q));
        },
        Sides());
  }
  auto update_body() {
    return program_.atomic(
        "update", [](double alpha, const Values& u, const Values& r, const Values& p, const Values& q) {
          auto next = update(alpha, u, r, p, q);
          return std::tuple(std::move(next.u), std::move(next.r), next.square);
        });
  }
  auto direction_body() {
    return program_.atomic("direction",
                           [](double beta, const Values& r, const Values& p) { return sum(r, beta, p); });
  }
  auto keep_vectors() {
    return program_.atomic(
        "keep_vectors", [&state = state_, &blocks = blocks_](int number, const Values& r, const Values& p) {
          state.put(state.r, blocks.box(number), r);
          state.put(state.p, blocks.box(number), p);
        });
  }
  /// Keeps u and its residual, and returns the sum of the squares of the residual.
  auto finish() {
    return stencil<int, Values, Values>(
        "finish",
        [&state = state_, &kernels = kernels_, &blocks = blocks_](
            int number, const Values& u, const Values& rhs, const Neighbours& around) {
          const auto residual = kernels.residual(number, u, rhs, around);
          state.put(state.u, blocks.box(number), u);
          state.put(state.residual, blocks.box(number), residual);
          return dot(residual, residual);
        },
        Sides());
  }
  void iterate(Scope& one, const BlockPlace& at, const Int& k, const Int& last, const EdgesBody& edges,
               const Vectors& v);
  void scalars(Scope& main, const Int& last, const Vectors& v);
  /// Adds up the squares, square[1] of all blocks, and keeps the sum on every rank.
  void keep_square(Scope& main, const Data<double>& square) {
    const auto keep = program_.atomic("keep_square", [&state = state_](double all) { state.square = all; });
    const auto squares = layout_.sums(main, "squares", 1, square, add_);
    layout_.each_rank(main,
                      [&](Scope& scope, const Int& rank) { scope.call(keep).with(squares[1][0]).on(rank); });
  }

  Program& program_;
  const Kernels& kernels_;
  const BlockGrid& blocks_;
  Layout layout_;
  State& state_;
  Layout::Add add_;
};

/// Jacobi, whose substeps are sweeps, or Gauss-Seidel, whose substeps are the halves of sweeps.
template <int dimensions>
void Describer<dimensions>::relaxation(Method method) {
  const bool halves = method == Method::gauss_seidel;
  const auto load_u = load("load_u", state_.u), load_rhs = load("load_rhs", state_.rhs);
  const auto edges = edges_of();
  const auto relax = relax_body(to_string(method), halves);
  const auto finished = finish();
  program_.main<int>([&](Scope& main, const Int& sweeps) {
    const auto u = main.data<Values>("u"), edge = main.data<Values>("edge"), rhs = main.data<Values>("rhs");
    const auto square = main.data<double>("square");
    const Int last = sweeps * (halves ? 2 : 1);
    layout_.each_block(main, [&](Scope& scope, const BlockPlace& at) {
      const auto& slot = at.slot;
      scope.call(load_u).with(at.number).into(u[0][slot]).on(at.rank).reads(u[0][slot], 2);
      scope.call(load_rhs).with(at.number).into(rhs[slot]).on(at.rank);
      scope.call(edges)
          .with(at.number, u[0][slot])
          .into(edge[0][slot])
          .on(at.rank)
          .reads(edge[0][slot], at.readers);
      scope.for_each(1, last, [&](Scope& one, const Int& k) {
        call(one.call(relax), edge[k - 1], at, Sides(), at.number, k, u[k - 1][slot], rhs[slot])
            .stealable()
            .into(u[k][slot], edge[k][slot])
            .reads(u[k][slot], 1)
            .reads(edge[k][slot], at.readers);
      });
      call(scope.call(finished), edge[last], at, Sides(), at.number, u[last][slot], rhs[slot])
          .into(square[1][slot]);
    });
    keep_square(main, square);
  });
}

/// Sweep k of a block.
template <int dimensions>
void Describer<dimensions>::iterate(Scope& one, const BlockPlace& at, const Int& k, const Int& last,
                                    const EdgesBody& edges, const Vectors& v) {
  const auto &slot = at.slot, &rank = at.rank;
  one.call(edges)
      .with(at.number, v.p[k - 1][slot])
      .into(v.edge[k][slot])
      .on(rank)
      .reads(v.edge[k][slot], at.readers);
  call(one.call(apply_body()), v.edge[k], at, Sides(), at.number, v.p[k - 1][slot])
      .stealable()
      .into(v.q[k][slot], v.pq[k][slot])
      .reads(v.q[k][slot], 1);
  one.call(update_body())
      .with(v.alpha[k][rank], v.u[k - 1][slot], v.r[k - 1][slot], v.p[k - 1][slot], v.q[k][slot])
      .into(v.u[k][slot], v.r[k][slot], v.rr[k][slot])
      .on(rank)
      .stealable()
      .reads(v.u[k][slot], 1 + (k == last))
      .reads(v.r[k][slot], 2);
  one.call(direction_body())
      .with(v.beta[k][rank], v.r[k][slot], v.p[k - 1][slot])
      .into(v.p[k][slot])
      .on(rank)
      .stealable()
      .reads(v.p[k][slot], 4 - 3 * (k == last));
}

/// Hestenes and Stiefel 1952: u, r and p after sweep k have index k.
template <int dimensions>
void Describer<dimensions>::conjugate_gradients() {
  const auto load_u = load("load_u", state_.u), load_rhs = load("load_rhs", state_.rhs),
             load_r = load("load_r", state_.r), load_p = load("load_p", state_.p);
  const auto edges = edges_of();
  const auto finished = finish();
  const auto keep = keep_vectors();
  program_.main<int>([&](Scope& main, const Int& last) {
    const Vectors v(main);
    const auto rhs = main.data<Values>("rhs"), edge = main.data<Values>("edge_u");
    const auto square = main.data<double>("square");
    layout_.each_block(main, [&](Scope& scope, const BlockPlace& at) {
      const auto &slot = at.slot, &rank = at.rank;
      scope.call(load_u).with(at.number).into(v.u[0][slot]).on(rank).reads(v.u[0][slot], 1);
      scope.call(load_r).with(at.number).into(v.r[0][slot]).on(rank).reads(v.r[0][slot], 1);
      scope.call(load_p).with(at.number).into(v.p[0][slot]).on(rank).reads(v.p[0][slot], 4);
      scope.call(load_rhs).with(at.number).into(rhs[slot]).on(rank).reads(rhs[slot], 1);
      scope.for_each(1, last, [&](Scope& one, const Int& k) { iterate(one, at, k, last, edges, v); });
      const auto &u = v.u[last][slot], &r = v.r[last][slot], &p = v.p[last][slot];
      scope.call(edges).with(at.number, u).into(edge[slot]).on(rank).reads(edge[slot], at.readers);
      call(scope.call(finished), edge, at, Sides(), at.number, u, rhs[slot]).into(square[1][slot]);
      scope.call(keep).with(at.number, r, p).on(rank);
    });
    scalars(main, last, v);
    keep_square(main, square);
  });
}

/// alpha = rr / pq before, beta = rr / rr after, on every rank; rr of the last sweep is kept.
template <int dimensions>
void Describer<dimensions>::scalars(Scope& main, const Int& last, const Vectors& v) {
  const auto load_rho = program_.atomic("load_rho", [&state = state_]() { return state.rho; });
  const auto keep_rho = program_.atomic("keep_rho", [&state = state_](double rho) { state.rho = rho; });
  const auto divide = program_.atomic("divide", [](double a, double b) { return quotient(a, b); });
  const auto all_pq = layout_.sums(main, "sums of pq", last, v.pq, add_);
  const auto all_rr = layout_.sums(main, "sums of rr", last, v.rr, add_);
  main.call(load_rho).into(all_rr[0][0]).on(0);
  layout_.each_rank(main, [&](Scope& scope, const Int& rank) {
    scope
        .for_each(1, last,
                  [&](Scope& one, const Int& k) {
                    one.call(divide).with(all_rr[k - 1][0], all_pq[k][0]).into(v.alpha[k][rank]).on(rank);
                    one.call(divide).with(all_rr[k][0], all_rr[k - 1][0]).into(v.beta[k][rank]).on(rank);
                  })
        .on(rank);
    scope.call(keep_rho).with(all_rr[last][0]).on(rank);
  });
}

/// The program of a method.
Program describe(Method method, const Problem& problem, const Kernels& kernels, const BlockGrid& blocks,
                 State& state) {
  Program program(to_string(method));
  const auto fill = [&]<int dimensions>(Describer<dimensions> describer) {
    if (method == Method::conjugate_gradients)
      describer.conjugate_gradients();
    else
      describer.relaxation(method);
  };
  if (problem.grid.dimensions == 2)
    fill(Describer<2>(program, problem, kernels, blocks, state));
  else
    fill(Describer<3>(program, problem, kernels, blocks, state));
  return program;
}

void execute(mpi::CommView comm, const Program& program, int sweeps, const fragments::Options& how) {
  const auto outcome = fragments::run(comm, program, {fmt::format("{}", sweeps)}, how);
  if (outcome.errors.empty()) return;
  throw Error(ErrorInfo{.kind = ErrorKind::internal,
                        .message = fmt::format("the fragment program failed: {}", outcome.errors.front()),
                        .path = {},
                        .rank = 0,
                        .hint = {}});
}

}  // namespace

Sweeps::Sweeps(mpi::CommView comm, const Problem& problem, const BlockGrid& blocks, State& state,
               fragments::Options how)
    : comm_(comm),
      how_(std::move(how)),
      kernels_(problem, blocks),
      sweeps_(describe(problem.method, problem, kernels_, blocks, state)) {
  if (problem.method == Method::conjugate_gradients)
    evaluation_ = describe(Method::jacobi, problem, kernels_, blocks, state);
}

void Sweeps::run(int count) {
  execute(comm_, sweeps_, count, how_);
}

void Sweeps::evaluate() {
  execute(comm_, evaluation_ ? *evaluation_ : sweeps_, 0, how_);
}

}  // namespace tailrace::poisson
