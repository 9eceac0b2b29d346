// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fragments/code.hpp"

namespace tailrace::fragments {

/// What an identifier stands for where it is read.
struct Symbol {
  enum class Kind { value, name, label, let, nfparam };
  Kind kind = Kind::value;
  std::uint32_t slot = 0;
  std::int32_t declaration = -1;
  Code code;  ///< of a `let`
};

/// The scopes around a place of a subroutine, and the slots that its frames have.
class Scopes {
 public:
  void open() { levels_.emplace_back(); }
  void close() { levels_.pop_back(); }
  std::uint32_t new_slot() { return slots_++; }
  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] std::size_t depth() const { return levels_.size(); }

  /// Whether the name was new in the innermost scope.
  bool declare(const std::string& name, Symbol symbol) {
    return levels_.back().emplace(name, std::move(symbol)).second;
  }
  [[nodiscard]] const Symbol* find(const std::string& name) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      if (const auto found = level->find(name); found != level->end()) return &found->second;
    return nullptr;
  }
  [[nodiscard]] const Symbol* find_innermost(const std::string& name) const {
    const auto found = levels_.back().find(name);
    return found == levels_.back().end() ? nullptr : &found->second;
  }

 private:
  std::vector<std::map<std::string, Symbol>> levels_;
  std::uint32_t slots_ = 0;
};

}  // namespace tailrace::fragments
