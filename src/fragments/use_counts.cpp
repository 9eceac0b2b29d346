// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/use_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fragments/diagnosis.hpp"

namespace tailrace::fragments {

namespace {

/// The names of one `req_count` differ in their indices: a shorter one has smaller numbers.
bool is_before(const std::string& a, const std::string& b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

void add(std::vector<UnusedCount>& counts, const UnusedCount& more) {
  const auto found = std::ranges::lower_bound(counts, more.at, {}, &UnusedCount::at);
  if (found == counts.end() || found->at != more.at) return void(counts.insert(found, more));
  found->values += more.values, found->uses += more.uses;
  if (is_before(more.first, found->first)) found->first = more.first;
}

}  // namespace

std::vector<UnusedCount> unused_counts(const Image& image, const Store& store) {
  std::vector<UnusedCount> counts;
  for (const auto& [id, stored] : store.entries())
    if (stored.state == Stored::State::live && stored.uses > 0)
      add(counts, {stored.count_at(), 1, stored.uses, text_of(image, Name{id, stored.declaration, {}})});
  return counts;
}

void add(std::vector<UnusedCount>& counts, const std::vector<UnusedCount>& more) {
  for (const auto& one : more) add(counts, one);
}

std::vector<std::string> notes_of(const Image& image, const std::vector<UnusedCount>& counts) {
  std::vector<std::string> notes;
  for (const auto& count : counts) {
    if (notes.size() == messages_shown) {
      notes.push_back(fmt::format("and {} further notes", counts.size() - messages_shown));
      break;
    }
    const auto times =
        fmt::format("{} {} less often than this count says", count.uses, count.uses == 1 ? "time" : "times");
    Message message{count.at, {}, {}, {}, {}, "count the uses that there are, or say req_unlimited"};
    message.text =
        count.values == 1
            ? fmt::format("{} was used {}, and was kept to the end", count.first, times)
            : fmt::format(
                  "{} values, of which {} is the first, were used {} in all, and were kept to the end",
                  count.values, count.first, times);
    notes.push_back(text_of(image, message, "note"));
  }
  return notes;
}

}  // namespace tailrace::fragments
