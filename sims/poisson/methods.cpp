// SPDX-License-Identifier: BSD-3-Clause
#include "methods.hpp"

#include <algorithm>
#include <tuple>

#include "description.hpp"

namespace tailrace::poisson {

using fragments::Program;
using fragments::Real;

namespace {

/// The quotient, or 0 where there is nothing left to divide by: the solution is exact.
double quotient(double a, double b) {
  return b != 0 ? a / b : 0;
}

using EdgesBody = fragments::Atomic<std::tuple<int, Values>, std::tuple<Values>>;

/// The data fragments of conjugate gradients, indexed by sweep and block, the last three by sweep and rank.
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
        beta(main.data<double>("beta")),
        rho(main.data<double>("rho")) {}
  Data<Values> u, r, p, q, edge;
  Data<double> pq, rr, alpha, beta, rho;
};

/// The sums over all blocks of conjugate gradients.
struct GradientSums {
  Layout::Sums squares, pq, rr;
};

/// The parts of a program that has one of the methods. Bodies that read the state of a rank, or give it what
/// is looked at, are where their blocks are; those of sweeps may move.
template <int dimensions>
class Describer {
  /// Sweeps after which no further one reads.
  struct Last {
    const Int &of_interval, &of_all;
  };

 public:
  Describer(Program& program, const Surroundings& around)
      : program_(program),
        kernels_(around.kernels),
        around_(around),
        layout_(around.problem.grid, around.blocks),
        adding_{program.atomic("add", [](int count, double a, double b, double c,
                                         double d) { return add(count, a, b, c, d); }),
                program.atomic(
                    "ends",
                    [around] { return std::tuple(around.end_of(0), around.end_of(1), around.end_of(2)); }),
                program.atomic("passed",
                               [around](int look, double /*there*/) { return around.end_of(look + 2); })} {}

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
    return program_.atomic(name, [around = around_, &array](int number) {
      const Box box = around.blocks.box(number);
      auto values = Values::for_overwrite(static_cast<std::size_t>(box.volume()));
      copy_shared(array.data(), around.state.own, values.values().data(), box);
      return values;
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
  auto find_vectors() {
    return program_.atomic("find_vectors",
                           [around = around_](int look, int number, const Values& r, const Values& p) {
                             around.gathering.add(look, "r", number, r);
                             around.gathering.add(look, "p", number, p);
                           });
  }
  /// Gives u and its residual to the look. Returns the sum of the squares of the residual, and when the
  /// interval after the next one ends.
  auto find_block() {
    return stencil<int, int, Values, Values>(
        "find_block",
        [around = around_](int look, int number, const Values& u, const Values& rhs,
                           const Neighbours& neighbours) {
          const auto residual = around.kernels.residual(number, u, rhs, neighbours);
          around.gathering.add(look, "u", number, u);
          around.gathering.add(look, "residual", number, residual);
          return std::tuple(dot(residual, residual), around.end_of(look + 2));
        },
        Sides());
  }
  void iterate(Scope& one, const BlockPlace& at, const Int& k, const Last& last, const EdgesBody& edges,
               const Vectors& v);
  void find_sums(Scope& scope, const Int& rank, const Int& looks, const Data<double>& squares);
  void load_vectors(Scope& scope, const Int& rank, const Data<Values>& rhs, const Vectors& v);
  void scalars(Scope& scope, const Int& rank, const Int& sweeps, const Int& looks, const GradientSums& sums,
               const Vectors& v);
  Program& program_;
  const Kernels& kernels_;
  Surroundings around_;
  Layout layout_;
  Layout::Adding adding_;
};

/// Jacobi, whose substeps are sweeps, or Gauss-Seidel, whose substeps are the halves of sweeps.
template <int dimensions>
void Describer<dimensions>::relaxation(Method method) {
  const bool halves = method == Method::gauss_seidel;
  const auto load_u = load("load_u", around_.state.u), load_rhs = load("load_rhs", around_.state.rhs);
  const auto edges = edges_of();
  const auto relax = relax_body(to_string(method), halves);
  const auto find = find_block();
  program_.main<int, int>([&](Scope& main, const Int& last, const Int& looks) {
    const auto u = main.data<Values>("u"), edge = main.data<Values>("edge"), rhs = main.data<Values>("rhs");
    const auto square = main.data<double>("square");
    const auto squares = layout_.sums(main, "squares", Layout::Each::look, looks, square, adding_);
    layout_.each_rank(main, [&](Scope& own, const Int& rank) {
      // Before the sweeps, so that they are looked at while later ones run.
      squares.describe(own, rank);
      find_sums(own, rank, looks, squares.all);
      layout_.each_block(own, rank, [&](Scope& scope, const BlockPlace& at) {
        const auto& slot = at.slot;
        scope.call(load_u).with(at.number).into(u[0][slot]).on(at.rank).reads(u[0][slot], 2);
        scope.call(load_rhs).with(at.number).into(rhs[slot]).on(at.rank);
        scope.call(edges)
            .with(at.number, u[0][slot])
            .into(edge[0][slot])
            .on(at.rank)
            .reads(edge[0][slot], at.readers);
        Layout::each_interval(scope, at.rank, looks, adding_.ends, [&](Scope& interval, const Interval& s) {
          interval
              .for_each(s.begin + 1, s.end,
                        [&](Scope& one, const Int& k) {
                          const Int uses = 1 + (k == s.end) - (k == last);
                          call(one.call(relax), edge[k - 1], at, Sides(), at.number, k, u[k - 1][slot],
                               rhs[slot])
                              .stealable()
                              .into(u[k][slot], edge[k][slot])
                              .reads(u[k][slot], uses)
                              .reads(edge[k][slot], at.readers * uses);
                        })
              .on(at.rank);
          call(interval.call(find), edge[s.end], at, Sides(), s.look, at.number, u[s.end][slot], rhs[slot])
              .into(square[s.look][slot], s.next_end)
              .reads(square[s.look][slot], 1)
              .reads(s.next_end, s.readers);
        });
      });
    });
  });
}

/// Gives the sums of the squares of the residual to the looks.
template <int dimensions>
void Describer<dimensions>::find_sums(Scope& scope, const Int& rank, const Int& looks,
                                      const Data<double>& squares) {
  const auto find = program_.atomic("find_sums", [around = around_](int look, double square) {
    around.gathering.add_sums(look, square, 0);
    return around.end_of(look + 2);
  });
  Layout::each_interval(scope, rank, looks, adding_.ends, [&](Scope& interval, const Interval& s) {
    interval.call(find)
        .with(s.look, squares[s.look][0])
        .into(s.next_end)
        .on(rank)
        .reads(s.next_end, s.readers);
  });
}

/// Sweep k of a block.
template <int dimensions>
void Describer<dimensions>::iterate(Scope& one, const BlockPlace& at, const Int& k, const Last& last,
                                    const EdgesBody& edges, const Vectors& v) {
  const auto &slot = at.slot, &rank = at.rank;
  const Int seen = k == last.of_interval, ends = k == last.of_all;
  one.call(edges)
      .with(at.number, v.p[k - 1][slot])
      .into(v.edge[k][slot])
      .on(rank)
      .reads(v.edge[k][slot], at.readers);
  call(one.call(apply_body()), v.edge[k], at, Sides(), at.number, v.p[k - 1][slot])
      .stealable()
      .into(v.q[k][slot], v.pq[k][slot])
      .reads(v.q[k][slot], 1)
      .reads(v.pq[k][slot], 1);
  one.call(update_body())
      .with(v.alpha[k][rank], v.u[k - 1][slot], v.r[k - 1][slot], v.p[k - 1][slot], v.q[k][slot])
      .into(v.u[k][slot], v.r[k][slot], v.rr[k][slot])
      .on(rank)
      .stealable()
      .reads(v.u[k][slot], 1 + 2 * seen - ends)
      .reads(v.r[k][slot], 2 + seen - ends)
      .reads(v.rr[k][slot], 1);
  one.call(direction_body())
      .with(v.beta[k][rank], v.r[k][slot], v.p[k - 1][slot])
      .into(v.p[k][slot])
      .on(rank)
      .stealable()
      .reads(v.p[k][slot], 4 + seen - 4 * ends);
}

template <int dimensions>
void Describer<dimensions>::load_vectors(Scope& scope, const Int& rank, const Data<Values>& rhs,
                                         const Vectors& v) {
  const auto& state = around_.state;
  const auto load_u = load("load_u", state.u), load_rhs = load("load_rhs", state.rhs),
             load_r = load("load_r", state.r), load_p = load("load_p", state.p);
  layout_.each_block(scope, rank, [&](Scope& one, const BlockPlace& at) {
    const auto& slot = at.slot;
    one.call(load_u).with(at.number).into(v.u[0][slot]).on(at.rank).reads(v.u[0][slot], 1);
    one.call(load_r).with(at.number).into(v.r[0][slot]).on(at.rank).reads(v.r[0][slot], 1);
    one.call(load_p).with(at.number).into(v.p[0][slot]).on(at.rank).reads(v.p[0][slot], 4);
    one.call(load_rhs).with(at.number).into(rhs[slot]).on(at.rank);
  });
}

/// Hestenes and Stiefel 1952: u, r and p after sweep k have index k.
template <int dimensions>
void Describer<dimensions>::conjugate_gradients() {
  const auto edges = edges_of();
  const auto find = find_block();
  const auto vectors = find_vectors();
  program_.main<int, int>([&](Scope& main, const Int& sweeps, const Int& looks) {
    const Vectors v(main);
    const auto rhs = main.data<Values>("rhs"), edge = main.data<Values>("edge_u");
    const auto square = main.data<double>("square");
    const auto sum_of = [&](const Data<double>& parts, const char* name, Layout::Each each) {
      return layout_.sums(main, name, each, looks, parts, adding_);
    };
    const GradientSums sums{.squares = sum_of(square, "squares", Layout::Each::look),
                            .pq = sum_of(v.pq, "sums of pq", Layout::Each::sweep),
                            .rr = sum_of(v.rr, "sums of rr", Layout::Each::sweep)};
    layout_.each_rank(main, [&](Scope& own, const Int& rank) {
      load_vectors(own, rank, rhs, v);
      scalars(own, rank, sweeps, looks, sums, v);
      layout_.each_block(own, rank, [&](Scope& scope, const BlockPlace& at) {
        const auto& slot = at.slot;
        Layout::each_interval(scope, rank, looks, adding_.ends, [&](Scope& interval, const Interval& s) {
          interval
              .for_each(s.begin + 1, s.end,
                        [&](Scope& one, const Int& k) {
                          iterate(one, at, k, {s.end, sweeps}, edges, v);
                        })
              .on(rank);
          const auto &u = v.u[s.end][slot], &r = v.r[s.end][slot], &p = v.p[s.end][slot];
          interval.call(edges)
              .with(at.number, u)
              .into(edge[s.look][slot])
              .on(rank)
              .reads(edge[s.look][slot], at.readers);
          call(interval.call(find), edge[s.look], at, Sides(), s.look, at.number, u, rhs[slot])
              .into(square[s.look][slot], s.next_end)
              .reads(square[s.look][slot], 1)
              .reads(s.next_end, s.readers);
          interval.call(vectors).with(s.look, at.number, r, p).on(rank);
        });
      });
    });
  });
}

/// alpha = rr / pq before, beta = rr / rr after, on every rank, which has its own rho = rr for that.
template <int dimensions>
void Describer<dimensions>::scalars(Scope& scope, const Int& rank, const Int& sweeps, const Int& looks,
                                    const GradientSums& sums, const Vectors& v) {
  const auto load_rho = program_.atomic("load_rho", [around = around_] { return around.state.rho; });
  const auto alpha = program_.atomic("alpha", [](double rho, double pq) { return quotient(rho, pq); });
  const auto beta =
      program_.atomic("beta", [](double rr, double rho) { return std::tuple(quotient(rr, rho), rr); });
  const auto find = program_.atomic("find_sums", [around = around_](int look, double square, double rho) {
    around.gathering.add_sums(look, square, rho);
    return around.end_of(look + 2);
  });
  for (const auto& each : {sums.squares, sums.pq, sums.rr}) each.describe(scope, rank);
  const Int readers = layout_.blocks_on(rank);
  scope.call(load_rho).into(v.rho[0][rank]).on(rank).reads(v.rho[0][rank], 2);
  Layout::each_interval(scope, rank, looks, adding_.ends, [&](Scope& interval, const Interval& s) {
    interval
        .for_each(s.begin + 1, s.end,
                  [&](Scope& one, const Int& k) {
                    one.call(alpha)
                        .with(v.rho[k - 1][rank], sums.pq.all[k][0])
                        .into(v.alpha[k][rank])
                        .on(rank)
                        .reads(v.alpha[k][rank], readers);
                    one.call(beta)
                        .with(sums.rr.all[k][0], v.rho[k - 1][rank])
                        .into(v.beta[k][rank], v.rho[k][rank])
                        .on(rank)
                        .reads(v.beta[k][rank], readers)
                        .reads(v.rho[k][rank], 2 + (k == s.end) - 2 * (k == sweeps));
                  })
        .on(rank);
    interval.call(find)
        .with(s.look, sums.squares.all[s.look][0], v.rho[s.end][rank])
        .into(s.next_end)
        .on(rank)
        .reads(s.next_end, s.readers);
  });
}

}  // namespace

Program describe(Method method, const Surroundings& around) {
  Program program(to_string(method));
  const auto fill = [&]<int dimensions>(Describer<dimensions> describer) {
    if (method == Method::conjugate_gradients)
      describer.conjugate_gradients();
    else
      describer.relaxation(method);
  };
  if (around.problem.grid.dimensions == 2)
    fill(Describer<2>(program, around));
  else
    fill(Describer<3>(program, around));
  return program;
}

}  // namespace tailrace::poisson
