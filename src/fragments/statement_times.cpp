// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/statement_times.hpp"

#include <fmt/format.h>

namespace tailrace::fragments {

trace::TypeName name_of(const Image& image, const Statement& statement) {
  constexpr std::uint8_t body = 0, call = 1, loop = 2, repeat = 3, condition = 4;
  trace::TypeName name;
  name.line = statement.at.line, name.column = statement.at.column;
  if (statement.at.file >= 0) name.file = image.files[static_cast<std::size_t>(statement.at.file)].name;
  switch (statement.kind) {
    case Kind::execute:
      name.kind = statement.callee->external ? body : call, name.name = statement.callee->name;
      break;
    case Kind::loop:
      name.kind = loop, name.name = fmt::format("for {}", statement.variable_name);
      break;
    case Kind::repeat:
      name.kind = repeat, name.name = fmt::format("while {}", statement.variable_name);
      break;
    case Kind::condition:
      name.kind = condition, name.name = "if";
      break;
  }
  return name;
}

StatementTimes::StatementTimes(const Image& image, int workers)
    : last_row_(image.statements.size()), threads_(static_cast<std::size_t>(workers) + 1) {
  for (auto& thread : threads_) thread.uses.resize(last_row_ + 1);
}

std::vector<StatementUse> StatementTimes::uses() const {
  std::vector<StatementUse> sums(last_row_ + 1);
  for (const auto& thread : threads_)
    for (std::size_t row = 0; row < sums.size(); ++row) {
      sums[row].executed += thread.uses[row].executed;
      sums[row].busy_s += thread.uses[row].busy_s;
    }
  return sums;
}

}  // namespace tailrace::fragments
