// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/program_state.hpp"

#include <fmt/format.h>

#include "tailrace/error.hpp"

namespace tailrace::fragments {

ProgramState::ProgramState(Mail& mail, Parts parts) : mail_(&mail), parts_(std::move(parts)) {
  mail.handle(restored_message, [this](MessageReader& in) { take(read_item(in)); });
}

void ProgramState::save(Checkpoints& checkpoints, const std::vector<std::string>& words,
                        std::int64_t executed, bool stops) {
  StateItems items(parts_.machine.image(), mail_->rank(), mail_->size());
  collect(items, executed);
  checkpoints.save([&](checkpoint::StateArchive& archive) { pass(archive, words, items); },
                   executed + executed_before_, stops);
}

bool ProgramState::restore(Checkpoints& checkpoints, const std::vector<std::string>& words) {
  const auto& image = parts_.machine.image();
  StateItems items(image, mail_->rank(), mail_->size());
  if (!checkpoints.restore([&](checkpoint::StateArchive& archive) { pass(archive, words, items); }))
    return false;
  std::map<int, EndedNames> ended;
  for (const auto& bytes : items.take_restored()) {
    MessageReader in(image, bytes);
    auto item = read_item(in);
    if (const auto* const range = std::get_if<EndedRange>(&item)) {
      share_out(*range, ended);
      continue;
    }
    const int rank = rank_of(item);
    pass_on(rank, std::move(item));
  }
  for (const auto& [rank, names] : ended)
    for (auto& range : names.ranges()) pass_on(rank, std::move(range));
  return true;
}

/// Adds the names of a range to those of their homes.
void ProgramState::share_out(const EndedRange& range, std::map<int, EndedNames>& ended) const {
  range.each([&](const Id& id) {
    const int rank = parts_.placement.home_of({id, range.how.declaration, range.how.home()});
    ended.try_emplace(rank, mail_->size()).first->second.add(id, range.how);
  });
}

void ProgramState::pass_on(int rank, StateItem item) {
  if (rank != mail_->rank())
    mail_->send(rank, restored_message, item);
  else
    take(std::move(item));
}

void ProgramState::pass(checkpoint::StateArchive& archive, const std::vector<std::string>& words,
                        StateItems& items) const {
  constexpr int known = 3;
  archive.component("fragments", known, [&](int version) {
    if (version < known)
      throw Error(ErrorKind::input, "the checkpoint is of an earlier version of fragment programs",
                  "run the program from its beginning");
    std::vector<std::uint64_t> mine{parts_.machine.image().digest};
    for (const auto& word : words) mine.push_back(std::hash<std::string>{}(word));
    auto saved = mine;
    archive.values("program", saved);
    if (saved != mine)
      throw Error(
          ErrorKind::input,
          fmt::format("the checkpoint is of {}", saved[0] != mine[0] ? "another program" : "other arguments"),
          "resume with the program and the arguments of the run that wrote it");
    archive.items("items", items);
  });
}

void ProgramState::collect(StateItems& items, std::int64_t executed) {
  for (const auto& entry : parts_.store.entries())
    if (entry.second.state != Stored::State::expected || entry.second.deletes)
      items.add([&entry] {
        return StoredData{{entry.first, entry.second.declaration, entry.second.home()}, entry.second};
      });
  for (auto& range : parts_.store.ended().ranges()) items.add([range = std::move(range)] { return range; });
  for (const auto& group : parts_.machine.groups().all())
    items.add([&group] { return OpenGroup{group.first, group.second}; });
  for (const auto* const queue : parts_.queues)
    for (const auto* const task : *queue) items.add([task] { return task->fragment; });
  for (const auto* const task : parts_.tasks.waiting()) items.add([task] { return task->fragment; });
  for (const auto& failure : parts_.failures) items.add([&failure] { return failure; });
  for (const auto& failed : parts_.failed) items.add([&failed] { return failed; });
  counters_[mail_->rank()] = {mail_->rank(), parts_.machine.names(), parts_.machine.groups().opened()};
  for (const auto& created : counters_) items.add([&created] { return created.second; });
  items.add([all = Executed{executed + executed_before_}] { return all; });
  if (parts_.printed == nullptr) return;
  for (auto& line : parts_.printed->begun())
    items.add([begun = BegunLine{std::move(line)}] { return begun; });
}

int ProgramState::rank_of(const StateItem& item) const {
  if (const auto* const data = std::get_if<StoredData>(&item)) return parts_.placement.home_of(data->name);
  if (const auto* const fragment = std::get_if<Fragment>(&item)) return rank_of(*fragment);
  if (const auto* const open = std::get_if<OpenGroup>(&item)) return rank_of(open->token.creator);
  if (const auto* const created = std::get_if<Counters>(&item)) return rank_of(created->creator);
  return std::holds_alternative<Executed>(item) ? 0 : mail_->rank();
}

/// A structured fragment at work is with its group; others are where they are recommended, or anywhere.
int ProgramState::rank_of(const Fragment& fragment) const {
  if (fragment.inner.exists()) return rank_of(fragment.inner.creator);
  return parts_.placement.recommended(fragment).value_or(mail_->rank());
}

void ProgramState::take(const Counters& created) {
  counters_[created.creator] = created;
  if (created.creator != mail_->rank()) return;
  parts_.machine.continue_from(created.names);
  parts_.machine.groups().continue_from(created.groups);
}

void ProgramState::take(BegunLine line) {
  if (parts_.printed != nullptr) parts_.printed->add_begun(std::move(line.text));
}

void ProgramState::take(Fragment fragment) {
  const bool placed =
      fragment.inner.exists() || !fragment.runs_body() || parts_.placement.recommended(fragment).has_value();
  parts_.arrive(std::move(fragment), placed);
}

}  // namespace tailrace::fragments
