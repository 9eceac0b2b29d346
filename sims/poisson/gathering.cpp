// SPDX-License-Identifier: BSD-3-Clause
#include "gathering.hpp"

namespace tailrace::poisson {

void Gathering::begin(std::size_t fields_of_blocks) {
  const std::lock_guard lock(mutex_);
  parts_ = fields_of_blocks + 1;
  looks_.clear();
}

Gathering::Part& Gathering::part_of(int look) {
  return looks_.try_emplace(look, Part{{}, parts_}).first->second;
}

void Gathering::add(int look, const std::string& field, int block, const Values& values) {
  const std::lock_guard lock(mutex_);
  auto& part = part_of(look);
  part.found.fields[field].insert_or_assign(block, values);
  --part.missing;
}

void Gathering::add_sums(int look, double square, double rho) {
  const std::lock_guard lock(mutex_);
  auto& part = part_of(look);
  part.found.square = square, part.found.rho = rho;
  --part.missing;
}

bool Gathering::complete(int look) const {
  const std::lock_guard lock(mutex_);
  const auto part = looks_.find(look);
  return part != looks_.end() && part->second.missing == 0;
}

Found Gathering::take(int look) {
  const std::lock_guard lock(mutex_);
  auto part = looks_.extract(look);
  return std::move(part.mapped().found);
}

}  // namespace tailrace::poisson
