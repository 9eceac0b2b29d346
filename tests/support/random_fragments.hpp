// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace tailrace::test {

/// A random program of the test bodies: a graph of additions whose statements are in any order, within
/// conditions, loops of both kinds and calls, with indices that are read from data fragments, use counts,
/// deletions, pushes to labelled fragments, copies and other recommendations.
class RandomFragments {
 public:
  explicit RandomFragments(std::uint64_t seed) : random_(seed) {}

  std::string program() {
    const int nodes = 3 + below(40);
    std::vector<std::string> statements{"set(3, x[0]) @ { %0 };", "set(5, x[1]) @ { %1 };"};
    statements.emplace_back("for j=0..3 set(j, y[j]) @ { locator_cyclic: j; };");
    uses_.assign(static_cast<std::size_t>(nodes), 0);
    pushes_.assign(static_cast<std::size_t>(nodes), "");
    for (int node = 2; node < nodes; ++node) statements.push_back(addition(node));
    for (int node = 0; node < nodes; ++node)
      if (uses_[static_cast<std::size_t>(node)] == 0 || below(8) == 0)
        statements.push_back(fmt::format("show(\"{}\", x[{}]);", node, use(node)));
    for (int node = 0; node < nodes; ++node) fill_count(statements, node);
    shuffle(statements);
    std::string text =
        "sub call(name r, int a, int b, int k, int c) { add(r[a], r[b], r[k]) @ { req_count r[k] = c; }; "
        "}\nsub main() { df x, i, w, d, y;\n";
    for (const auto& statement : statements) text += statement + "\n";
    return text +
           fmt::format("}} @ {{ locator_cyclic x[j] => j * {} + {}; locator_replicating y[j] => {}; }}\n",
                       below(5), below(5), below(2) == 0 ? "all" : fmt::format("j % 2 + {}", 1 + below(2)));
  }

 private:
  int below(int limit) { return static_cast<int>(random_.next() % static_cast<std::uint64_t>(limit)); }
  /// A node that is read by one more fragment.
  int use(int node) {
    ++uses_[static_cast<std::size_t>(node)];
    return node;
  }
  void shuffle(std::vector<std::string>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.next() % i]);
  }

  std::string addition(int node) {
    const int a = use(below(node));
    int b = below(node);
    if (b != a) use(b);
    switch (below(10)) {
      case 0:
        return fmt::format("call(x, {}, {}, {}, #{}) @ {{ locator_cyclic: {}; }};", a, b, node, node,
                           below(9) - 4);
      case 1:
        return fmt::format("for j={0}..{0} add(x[{1}], x[{2}], x[j]) @ {{ %{0} }};", node, a, b);
      case 2:
        return fmt::format("if x[{0}] * 0 == 0 add(x[{1}], x[{2}], x[{3}]) @ {{ %{3} }};", use(below(node)),
                           a, b, node);
      case 3:
        return fmt::format("set({1}, i[{0}]); add(x[i[{0}]], x[{2}], x[{0}]) --> (i[{0}]) @ {{ %{0} }};",
                           node, a, b);
      case 4:
        return fmt::format("add(x[{1}], x[{2}], x[{0}]) @ {{ %{0} locator_cyclic: {3}; }};", node, a, b,
                           below(7));
      case 5:
        pushes_[static_cast<std::size_t>(a)] += fmt::format("afterpush x[{}] => c[{}]; ", a, node);
        return fmt::format("cf c[{0}]: add(x[{1}], x[{2}], x[{0}]) @ {{ %{0} wait x[{1}]; }};", node, a, b);
      case 6:
        return fmt::format(
            "while k < x[{3}] * 0 + 1, k=0..out w[{0}] {{ add(x[{1}], x[{2}], x[{0}]) @ {{ %{0} }}; }}", node,
            a, b, use(below(node)));
      case 7:
        return fmt::format("call(x, {1}, {2}, {0}, #{0}) >> (d[{0}]); if d[{0}] == 1 nothing();", node, a, b);
      case 8:
        return fmt::format("add(x[{1}], x[{2}] + y[{3}] * 0, x[{0}]) @ {{ %{0} locator_cyclic: {4}; }};",
                           node, a, b, below(4), below(7));
      default:
        return fmt::format("add(x[{1}], x[{2}], x[{0}]) @ {{ %{0} }};", node, a, b);
    }
  }
  /// Replaces %N by the use count of node N and what is pushed from it, and #N by the number.
  void fill_count(std::vector<std::string>& statements, int node) {
    const auto count = uses_[static_cast<std::size_t>(node)];
    for (auto& statement : statements) {
      replace(statement, fmt::format("%{} ", node),
              fmt::format("req_count x[{}] = {}; {}", node, count, pushes_[static_cast<std::size_t>(node)]));
      replace(statement, fmt::format("#{})", node), fmt::format("{})", count));
    }
  }
  static void replace(std::string& text, const std::string& from, const std::string& to) {
    if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  }

  SplitMix64 random_;
  std::vector<int> uses_;
  std::vector<std::string> pushes_;  // rules of the fragment that writes a node
};

}  // namespace tailrace::test
