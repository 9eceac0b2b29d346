// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tailrace::am {

/// Describes a rank that owes this one an answer and has sent nothing since.
struct Silence {
  int rank = 0;
  double seconds = 0;
  std::string owed;  ///< such as "credit"
};
/// "rank 3 has not answered for 12 s (credit)", joined by semicolons.
std::string to_text(const std::vector<Silence>& silences);

/// What a rank owes, and how many frames it has sent so far.
struct Debt {
  int rank = 0;
  std::string owed;
  std::int64_t frames = 0;
};

/// Remembers since when ranks have been silent.
class SilenceWatch {
 public:
  /// Takes note of who owes something now. Returns those that already did, and have sent nothing, `limit_s`
  /// seconds ago.
  std::vector<Silence> look(const std::vector<Debt>& debts, double now_s, double limit_s);

 private:
  struct Since {
    std::int64_t frames = 0;
    double since_s = 0;
  };
  std::map<int, Since> known_;
};

}  // namespace tailrace::am
