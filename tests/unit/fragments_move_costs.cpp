// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "fragments/move_costs.hpp"

using namespace tailrace::fragments;

namespace {

Fragment with_input(const Statement& statement, std::size_t bytes) {
  Fragment fragment;
  fragment.statement = &statement;
  fragment.inputs.push_back({{}, Value(Buffer(bytes))});
  return fragment;
}

Effects ran_for(double body_s, std::size_t written_bytes) {
  Effects effects;
  effects.body_s = body_s;
  effects.posts.emplace_back().value = Value(Buffer(written_bytes));
  return effects;
}

}  // namespace

TEST_CASE("balance: a body moves where its values cost less than half of its time") {
  const Statement statement{}, other{};
  MoveCosts costs;
  CHECK(costs.pays(with_input(statement, 1'000'000)));  // nothing is known
  costs.ran(with_input(statement, 0), ran_for(1e-3, 100'000));
  CHECK(costs.pays(with_input(statement, 300'000)));
  CHECK_FALSE(costs.pays(with_input(statement, 500'000)));
  CHECK(costs.pays(with_input(other, 500'000)));
}

TEST_CASE("balance: a body that lost its core does not count for long") {
  const Statement statement{};
  MoveCosts costs;
  const auto block = with_input(statement, 100'000);
  for (int i = 0; i < 10; ++i) costs.ran(block, ran_for(20e-6, 0));
  CHECK_FALSE(costs.pays(block));
  costs.ran(block, ran_for(4e-3, 0));
  CHECK_FALSE(costs.pays(block));
  for (int i = 0; i < 20; ++i) costs.ran(block, ran_for(4e-3, 0));
  CHECK(costs.pays(block));
}
