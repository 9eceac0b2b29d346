// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>

namespace tailrace::test {

/// A variable of the environment that is set while this lives. In tests without other threads.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

/// Makes nodes of so many ranks.
class RanksPerNode : public Environment {
 public:
  explicit RanksPerNode(const std::string& ranks) : Environment("TAILRACE_RANKS_PER_NODE", ranks) {}
  explicit RanksPerNode(int ranks) : RanksPerNode(std::to_string(ranks)) {}
};

}  // namespace tailrace::test
