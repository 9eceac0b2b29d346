// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tailrace::test {

/// A variable of the environment that has another value, or none, while this lives. In tests without other
/// threads.
class Environment {
 public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const text = std::getenv(name)) before_ = text;
    set(value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) {
    if (value)
      setenv(name_, value->c_str(), 1);
    else
      unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

/// Makes nodes of so many ranks.
class RanksPerNode : public Environment {
 public:
  explicit RanksPerNode(const std::string& ranks) : Environment("TAILRACE_RANKS_PER_NODE", ranks) {}
  explicit RanksPerNode(int ranks) : RanksPerNode(std::to_string(ranks)) {}
};

}  // namespace tailrace::test
