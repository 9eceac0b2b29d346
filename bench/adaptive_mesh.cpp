// SPDX-License-Identifier: BSD-3-Clause
#include "adaptive_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/random.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench {

namespace {

using Point = std::array<std::int32_t, 3>;

struct Hash {
  std::size_t operator()(const Point& point) const noexcept {
    std::uint64_t bits = 0;
    for (const std::int32_t part : point) bits = mixed_bits(bits + static_cast<std::uint32_t>(part));
    return bits;
  }
  std::size_t operator()(const Leaf& leaf) const noexcept {
    return mixed_bits((*this)(leaf.low) + static_cast<std::uint32_t>(leaf.size));
  }
};
using Tree = std::unordered_set<Leaf, Hash>;

Point plus(Point point, const Point& by) noexcept {
  for (std::size_t axis = 0; axis < 3; ++axis) point[axis] += by[axis];
  return point;
}

/// The octree under construction.
class Octree {
 public:
  explicit Octree(const UaClass& which) : whole_(std::int32_t{2} << which.level), radius_(which.radius) {}

  /// Splits what touches the ball down to the finest size.
  void refine(const Leaf& leaf, const std::array<double, 3>& centre) {
    if (leaf.size == finest || !touches(leaf, centre)) {
      leaves_.insert(leaf);
      return;
    }
    for (const Leaf& child : children(leaf)) refine(child, centre);
  }
  [[nodiscard]] Leaf root() const noexcept { return {{0, 0, 0}, whole_}; }

  /// Splits leaves that are more than twice as large as one beside them, across faces and edges.
  void balance() {
    std::vector<Leaf> todo(leaves_.begin(), leaves_.end());
    while (!todo.empty()) {
      const Leaf leaf = todo.back();
      todo.pop_back();
      if (!leaves_.contains(leaf)) continue;
      for (const Point& direction : directions()) {
        Leaf beside{leaf.low, leaf.size};
        for (std::size_t axis = 0; axis < 3; ++axis) beside.low[axis] += direction[axis] * leaf.size;
        if (inside(beside.low)) split_to(beside, 2 * leaf.size, todo);
      }
    }
  }
  [[nodiscard]] std::vector<Leaf> in_morton_order() const {
    std::vector<Leaf> list;
    collect(root(), list);
    return list;
  }

 private:
  static constexpr std::int32_t finest = 2;

  [[nodiscard]] bool touches(const Leaf& leaf, const std::array<double, 3>& centre) const {
    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double low = static_cast<double>(leaf.low[axis]) / whole_,
                   high = static_cast<double>(leaf.low[axis] + leaf.size) / whole_;
      const double away = centre[axis] - std::clamp(centre[axis], low, high);
      square += away * away;
    }
    return square < radius_ * radius_;
  }
  static std::array<Leaf, 8> children(const Leaf& leaf) {
    std::array<Leaf, 8> all;
    const std::int32_t half = leaf.size / 2;
    for (std::int32_t i = 0; i < 8; ++i)
      all[static_cast<std::size_t>(i)] = {plus(leaf.low, {i % 2 * half, i / 2 % 2 * half, i / 4 * half}),
                                          half};
    return all;
  }
  /// To the 6 faces and 12 edges.
  static const std::vector<Point>& directions() {
    static const auto list = [] {
      std::vector<Point> all;
      for (std::int32_t z = -1; z <= 1; ++z)
        for (std::int32_t y = -1; y <= 1; ++y)
          for (std::int32_t x = -1; x <= 1; ++x)
            if (const auto axes = x * x + y * y + z * z; axes == 1 || axes == 2) all.push_back({x, y, z});
      return all;
    }();
    return list;
  }
  [[nodiscard]] bool inside(const Point& point) const noexcept {
    return std::all_of(point.begin(), point.end(),
                       [this](std::int32_t at) { return at >= 0 && at < whole_; });
  }
  /// The leaf that holds `region`, if it is larger than that.
  [[nodiscard]] const Leaf* larger(const Leaf& region) const {
    for (std::int32_t size = 2 * region.size; size <= whole_; size *= 2) {
      Leaf around{region.low, size};
      for (auto& at : around.low) at -= at % size;
      if (const auto found = leaves_.find(around); found != leaves_.end()) return &*found;
    }
    return nullptr;
  }
  /// Splits what holds `region` until it is no larger than `most`.
  void split_to(const Leaf& region, std::int32_t most, std::vector<Leaf>& todo) {
    for (const Leaf* found = larger(region); found != nullptr && found->size > most; found = larger(region)) {
      const Leaf old = *found;
      leaves_.erase(old);
      for (const Leaf& child : children(old)) {
        leaves_.insert(child);
        todo.push_back(child);
      }
    }
  }
  void collect(const Leaf& at, std::vector<Leaf>& list) const {
    if (leaves_.contains(at)) {
      list.push_back(at);
      return;
    }
    for (const Leaf& child : children(at)) collect(child, list);
  }

  std::int32_t whole_;
  double radius_;
  Tree leaves_;
};

/// Numbers points by what they lie on: a vertex by its place, the points of an edge or a face by its middle,
/// which lies on no other edge or face that is not split.
class Numbers {
 public:
  explicit Numbers(const std::vector<Leaf>& leaves) {
    for (const Leaf& leaf : leaves)
      for (std::int32_t i = 0; i < 8; ++i) vertices_.try_emplace(corner(leaf, i), untouched);
    next_ = vertices();
    begins_.assign(vertices_.size(), true);
  }
  static Point corner(const Leaf& leaf, std::int32_t i) {
    return plus(leaf.low, {i % 2 * leaf.size, i / 2 % 2 * leaf.size, i / 4 * leaf.size});
  }
  [[nodiscard]] std::int64_t vertices() const noexcept { return static_cast<std::int64_t>(vertices_.size()); }
  [[nodiscard]] std::int64_t points() const noexcept { return next_; }
  [[nodiscard]] bool is_vertex(const Point& point) const { return vertices_.contains(point); }
  std::int64_t vertex(const Point& point) {
    auto& number = vertices_.at(point);
    if (number == untouched) number = touched_++;
    return number;
  }
  /// The first of the numbers of an edge or a face.
  std::int64_t first_on(const Point& middle, std::int64_t points_on_it) {
    const auto [found, is_new] = inner_.try_emplace(middle, next_);
    if (is_new) {
      begins_.push_back(true);
      begins_.resize(static_cast<std::size_t>(next_ += points_on_it));
    }
    return found->second;
  }
  [[nodiscard]] std::vector<bool> begins() const { return begins_; }

 private:
  static constexpr std::int64_t untouched = -1;

  std::unordered_map<Point, std::int64_t, Hash> vertices_, inner_;
  std::vector<bool> begins_;
  std::int64_t touched_ = 0, next_ = 0;
};

/// The points of one element.
class Boundary {
 public:
  Boundary(Numbers& numbers, std::vector<std::int64_t>& indices) : numbers_(numbers), indices_(indices) {}

  void add(const Leaf& leaf) {
    for (std::int32_t i = 0; i < 8; ++i) indices_.push_back(numbers_.vertex(Numbers::corner(leaf, i)));
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::int32_t side = 0; side < 4; ++side) add_edge(leaf, axis, side % 2, side / 2);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::int32_t side = 0; side < 2; ++side) add_face(leaf, axis, side);
  }

 private:
  static constexpr std::int64_t on_edge = 3, on_face = 9;

  void add_points(const Point& middle, std::int64_t count) {
    const std::int64_t first = numbers_.first_on(middle, count);
    for (std::int64_t i = 0; i < count; ++i) indices_.push_back(first + i);
  }
  void add_edge(const Leaf& leaf, std::size_t axis, std::int32_t one, std::int32_t other) {
    Point middle = leaf.low;
    middle[axis] += leaf.size / 2;
    middle[(axis + 1) % 3] += one * leaf.size;
    middle[(axis + 2) % 3] += other * leaf.size;
    if (!numbers_.is_vertex(middle)) return add_points(middle, on_edge);
    add_points(moved(middle, axis, -leaf.size / 4), on_edge);
    indices_.push_back(numbers_.vertex(middle));
    add_points(moved(middle, axis, leaf.size / 4), on_edge);
  }
  static Point moved(Point point, std::size_t axis, std::int32_t by) {
    point[axis] += by;
    return point;
  }
  /// The two halves of an edge around its middle.
  void add_halves(const Point& middle, std::size_t axis, std::int32_t quarter) {
    for (const std::int32_t away : {-quarter, quarter}) add_points(moved(middle, axis, away), on_edge);
  }
  /// A face; of one that finer elements split, the four faces, what is between them, and the vertex in the
  /// middle.
  void add_face(const Leaf& leaf, std::size_t axis, std::int32_t side) {
    const std::size_t u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    const std::int32_t quarter = leaf.size / 4;
    Point middle = leaf.low;
    middle[axis] += side * leaf.size;
    middle[u] += leaf.size / 2, middle[v] += leaf.size / 2;
    if (!numbers_.is_vertex(middle)) return add_points(middle, on_face);
    indices_.push_back(numbers_.vertex(middle));
    add_halves(middle, u, quarter);
    add_halves(middle, v, quarter);
    for (const std::int32_t dv : {-quarter, quarter})
      for (const std::int32_t du : {-quarter, quarter})
        add_points(moved(moved(middle, u, du), v, dv), on_face);
  }

  Numbers& numbers_;
  std::vector<std::int64_t>& indices_;
};

}  // namespace

double UaClass::step_s() const noexcept {
  return 0.04 * std::ldexp(1.0, -level);
}

UaClass ua_class(char name) {
  for (const UaClass& one : {UaClass{'S', 4, 0.040}, UaClass{'W', 5, 0.060}, UaClass{'A', 6, 0.076},
                             UaClass{'B', 7, 0.076}, UaClass{'C', 8, 0.067}, UaClass{'D', 10, 0.046}})
    if (one.name == name) return one;
  throw Error(ErrorKind::usage, std::string("UA has no class ") + name, "one of S, W, A, B, C, D");
}

std::vector<Leaf> ua_leaves(const UaClass& which, double time_s) {
  constexpr double speed = 3;
  const std::array<double, 3> centre{3.0 / 7 + speed * time_s, 2.0 / 7 + speed * time_s,
                                     2.0 / 7 + speed * time_s};
  Octree tree(which);
  tree.refine(tree.root(), centre);
  tree.balance();
  return tree.in_morton_order();
}

std::vector<Leaf> ua_leaves_after(const UaClass& which, int steps) {
  double time_s = 0;
  for (int step = 0; step < steps; ++step) time_s += which.step_s();
  return ua_leaves(which, time_s);
}

Mortars ua_mortars(const std::vector<Leaf>& leaves) {
  Numbers numbers(leaves);
  Mortars mortars;
  Boundary boundary(numbers, mortars.indices);
  for (const Leaf& leaf : leaves) {
    mortars.first.push_back(static_cast<std::int64_t>(mortars.indices.size()));
    boundary.add(leaf);
  }
  mortars.first.push_back(static_cast<std::int64_t>(mortars.indices.size()));
  mortars.vertices = numbers.vertices();
  mortars.points = numbers.points();
  mortars.begins = numbers.begins();
  return mortars;
}

}  // namespace tailrace::bench
