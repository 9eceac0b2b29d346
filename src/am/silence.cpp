// SPDX-License-Identifier: BSD-3-Clause
#include "am/silence.hpp"

#include <fmt/format.h>

namespace tailrace::am {

std::string to_text(const std::vector<Silence>& silences) {
  std::string text;
  for (const Silence& silence : silences)
    text += fmt::format("{}rank {} has not answered for {:.3g} s ({})", text.empty() ? "" : "; ",
                        silence.rank, silence.seconds, silence.owed);
  return text;
}

std::vector<Silence> SilenceWatch::look(const std::vector<Debt>& debts, double now_s, double limit_s) {
  std::map<int, Since> known;
  std::vector<Silence> silences;
  for (const Debt& debt : debts) {
    const auto before = known_.find(debt.rank);
    const bool heard = before == known_.end() || before->second.frames != debt.frames;
    const Since since = heard ? Since{debt.frames, now_s} : before->second;
    known[debt.rank] = since;
    if (now_s - since.since_s >= limit_s) silences.push_back({debt.rank, now_s - since.since_s, debt.owed});
  }
  known_ = std::move(known);
  return silences;
}

}  // namespace tailrace::am
