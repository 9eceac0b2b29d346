// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/system.hpp"
#include "fragments/compiler.hpp"

namespace tailrace::fragments {

bool Pattern::matches(const Id& id) const {
  const auto others = id.indices();
  if (!(id.base() == base) || others.size() < indices.size() || (!open && others.size() > indices.size()))
    return false;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] && *indices[i] != others[i]) return false;
  return true;
}

namespace {

/// The only name that a pattern is, or nothing.
std::optional<Id> exact_name(const Pattern& pattern) {
  if (pattern.open) return {};
  Id id = pattern.base;
  for (const auto& index : pattern.indices) {
    if (!index) return {};
    id.take(*index);
  }
  return id;
}

/// The indices that a reference adds to its name, where they do not depend on what is not known yet.
std::vector<std::optional<std::int32_t>> known_indices(const Image& image, const Fragment& fragment,
                                                       const Code& name) {
  const auto count = name.tokens.back().indices;
  std::vector<std::optional<std::int32_t>> indices(count);
  auto last = name.tokens.end() - 1;
  for (std::size_t i = count; i-- > 0;) {  // the tokens of an index end where those of the next begin
    Code index;
    for (int wanted = 1; wanted > 0;) {
      --last;
      wanted += operand_count(*last) - 1;
      index.tokens.insert(index.tokens.begin(), *last);
    }
    const bool unknown = std::ranges::any_of(index.tokens, [&](const Token& token) {
      const bool reads = token.kind == Token::Kind::slot || token.kind == Token::Kind::name;
      return reads && fragment.frame->find(token.number) == nullptr;
    });
    if (unknown) continue;
    const auto result = Evaluation(image, *fragment.frame, fragment.inputs).evaluate(index);
    if (result.known() && result.value.type() == Type::integer) indices[i] = result.value.integer();
  }
  return indices;
}

std::vector<Pattern> writes_of(const Image& image, const Fragment& fragment) {
  std::vector<Pattern> patterns;
  for (const auto* name : fragment.statement->written) {
    const auto* const base = std::get_if<Name>(fragment.frame->find(name->tokens.back().number));
    if (base == nullptr) continue;  // declared within the fragment
    Pattern pattern{base->id.base(), {base->id.indices().begin(), base->id.indices().end()}, true};
    for (const auto& index : known_indices(image, fragment, *name)) pattern.indices.push_back(index);
    const auto& statement = *fragment.statement;
    pattern.open = statement.callee == nullptr || !statement.callee->external;
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

std::string moment_of(const Fragment& fragment) {
  const auto& statement = *fragment.statement;
  return statement.kind == Kind::repeat && fragment.started
             ? fmt::format(" at {} = {}", statement.variable_name, fragment.next)
             : "";
}

}  // namespace

Stuck describe(const Image& image, const Fragment& fragment, const std::vector<Name>& missing) {
  Stuck stuck;
  stuck.statement = fragment.statement->number, stuck.at = fragment.statement->at;
  stuck.calls = calls_of(image, fragment.frame->call);
  for (const auto& name : missing)
    stuck.missing.push_back({name.id, text_of(image, name), name_here(image, fragment, name)});
  stuck.writes = writes_of(image, fragment);
  stuck.when = moment_of(fragment);
  stuck.group = fragment.inner.exists() ? fragment.inner : fragment.group;
  return stuck;
}

void add_groups(const Image& image, const Groups& groups, std::vector<Stuck>& stuck) {
  for (const auto& [token, group] : groups.all()) {
    auto& entry = stuck.emplace_back();
    entry.statement = group.origin.statement->number, entry.at = group.origin.statement->at;
    entry.calls = calls_of(image, group.origin.call);
    for (const auto& set : group.after.sets) {
      const auto indices = set.name.id.indices();
      entry.writes.push_back({set.name.id.base(), {indices.begin(), indices.end()}, false});
    }
    entry.group = group.parent, entry.own = token, entry.block = !group.after.ended.empty();
  }
}

std::vector<Id> about(const std::vector<Message>& failures) {
  std::set<Id> ids;
  for (const auto& failure : failures)
    for (const auto& data : failure.about) ids.insert(data.id);
  return {ids.begin(), ids.end()};
}

std::vector<Id> missing_of(const std::vector<Stuck>& stuck) {
  std::set<Id> ids;
  for (const auto& fragment : stuck)
    for (const auto& data : fragment.missing) ids.insert(data.id);
  return {ids.begin(), ids.end()};
}

void add_knowledge(const Image& image, const Store& store, const std::vector<Id>& missing,
                   Situation& situation) {
  std::set<Id> bases;
  for (const auto& id : missing) {
    bases.insert(id.base());
    const auto* const stored = store.find(id);
    if (stored == nullptr || stored->state == Stored::State::expected) continue;
    Missing known{id, stored->state, stored->count_at(), {}, {}};
    if (const auto remover = stored->remover(); remover.statement != nullptr)
      known.deleted_at = remover.statement->at, known.deleted_calls = calls_of(image, remover.call);
    situation.missing.push_back(std::move(known));
  }
  const auto add = [&](const Id& id, const Origin& writer) {
    situation.written.push_back({id, writer.statement->at, calls_of(image, writer.call)});
  };
  for (const auto& [id, stored] : store.entries())
    if (stored.state != Stored::State::expected && bases.contains(id.base())) add(id, stored.writer);
  for (const auto& range : store.ended().ranges())
    if (bases.contains(range.first.base())) range.each([&](const Id& id) { add(id, range.how.writer); });
}

void add_writers(const Image& image, const Store& store, const std::vector<Id>& ids,
                 std::vector<Written>& writers) {
  for (const auto& id : ids)
    if (const auto* const stored = store.find(id); stored != nullptr && stored->writer.statement != nullptr)
      writers.push_back({id, stored->writer.statement->at, calls_of(image, stored->writer.call)});
}

std::string held_memory(const Image& image, const Store& store) {
  constexpr std::ptrdiff_t shown = 5;
  const auto bytes_of = [](const auto* entry) { return entry->second.value.bytes().size(); };
  std::vector<const std::pair<const Id, Stored>*> live;
  for (const auto& entry : store.entries())
    if (entry.second.state == Stored::State::live) live.push_back(&entry);
  const auto end = live.begin() + std::min(shown, std::ssize(live));
  std::ranges::partial_sort(live, end, [&](const auto* a, const auto* b) {
    return std::pair(bytes_of(b), a->first) < std::pair(bytes_of(a), b->first);
  });
  std::vector<std::string> largest;
  for (auto entry = live.begin(); entry != end; ++entry)
    largest.push_back(fmt::format("{} {}",
                                  text_of(image, Name{(*entry)->first, (*entry)->second.declaration, {}}),
                                  human_bytes(static_cast<double>(bytes_of(*entry)))));
  if (live.empty()) return "this rank holds no data fragments";
  return fmt::format("{} data fragments of this rank hold {}: {}{}", live.size(),
                     human_bytes(static_cast<double>(store.live_bytes())), fmt::join(largest, ", "),
                     std::ssize(live) > shown ? " and others" : "");
}

namespace {

/// The whole of a verdict while it is being made.
class Judgement {
 public:
  Judgement(const Image& image, const Situation& situation)
      : image_(image), stuck_(situation.stuck), situation_(situation) {
    forget_blocks();
    std::ranges::stable_sort(stuck_,
                             [](const Stuck& a, const Stuck& b) { return order_of(a) < order_of(b); });
    for (std::size_t i = 0; i < stuck_.size(); ++i)
      if (stuck_[i].group.exists()) parts_[key_of(stuck_[i].group)].push_back(i);
    for (std::size_t i = 0; i < stuck_.size(); ++i)
      for (const auto& pattern : stuck_[i].writes) {
        const auto id = exact_name(pattern);
        auto& writers = id ? exact_writers_[*id] : other_writers_[pattern.base];
        if (writers.empty() || writers.back() != i) writers.push_back(i);
      }
    explained_.resize(stuck_.size()), readers_.resize(stuck_.size());
    for (std::size_t i = 0; i < stuck_.size(); ++i) {
      awaited_.push_back(awaited_by(i));
      for (const auto writer : awaited_.back()) readers_[writer].push_back(i);
    }
  }

  std::vector<Message> messages() {
    for (const auto& fragment : stuck_) add_roots(fragment);
    for (std::size_t i = 0; i < stuck_.size(); ++i)
      if (stuck_[i].failed || has_root(stuck_[i])) explain(i);
    spread();
    for (std::size_t i = 0; i < stuck_.size(); ++i) {
      if (explained_[i]) continue;
      add_cycle(i);
      spread();
    }
    return finish();
  }

 private:
  /// Blocks wait for nothing that they would do themselves: their parts are those of who created them.
  void forget_blocks() {
    std::map<std::pair<std::int32_t, std::uint64_t>, GroupToken> parents;
    for (const auto& entry : stuck_)
      if (entry.block) parents.emplace(key_of(entry.own), entry.group);
    std::erase_if(stuck_, [](const Stuck& entry) { return entry.block; });
    for (auto& entry : stuck_)
      for (auto found = parents.find(key_of(entry.group)); found != parents.end();
           found = parents.find(key_of(entry.group)))
        entry.group = found->second;
  }
  static std::pair<Place, std::string> order_of(const Stuck& fragment) {
    return {fragment.at, fragment.missing.empty() ? "" : fragment.missing[0].text};
  }

  /// The fragments that may write a name. One that waits for it is among them only if it writes just that.
  [[nodiscard]] std::vector<std::size_t> writers_of(const Id& id, const Stuck* reader) const {
    std::vector<std::size_t> writers;
    if (const auto exact = exact_writers_.find(id); exact != exact_writers_.end()) writers = exact->second;
    if (const auto others = other_writers_.find(id.base()); others != other_writers_.end())
      for (const auto i : others->second) {
        const bool writes = std::ranges::any_of(stuck_[i].writes, [&](const Pattern& pattern) {
          return !exact_name(pattern) && pattern.matches(id);
        });
        if (writes && &stuck_[i] != reader) writers.push_back(i);
      }
    std::ranges::sort(writers);
    writers.erase(std::ranges::unique(writers).begin(), writers.end());
    return writers;
  }
  [[nodiscard]] const Missing* known(const Id& id) const {
    const auto found =
        std::ranges::find_if(situation_.missing, [&](const Missing& entry) { return entry.id == id; });
    return found == situation_.missing.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool is_root(const Stuck& fragment, const NamedData& data) const {
    return known(data.id) != nullptr || writers_of(data.id, &fragment).empty();
  }
  [[nodiscard]] bool has_root(const Stuck& fragment) const {
    return std::ranges::any_of(fragment.missing,
                               [&](const NamedData& data) { return is_root(fragment, data); });
  }

  void add_roots(const Stuck& fragment) {
    for (const auto& data : fragment.missing) {
      if (fragment.failed || !is_root(fragment, data)) continue;
      const auto [place, fresh] = roots_.emplace(data.id, messages_.size());
      if (fresh)
        messages_.push_back(root(fragment, data));
      else
        add_reader(messages_[place->second], fragment, data);
    }
  }
  void add_reader(Message& message, const Stuck& fragment, const NamedData& data) const {
    message.lines.push_back(fmt::format("{} needs {}{}{} too", text_of(image_, fragment.at), data.text,
                                        data.here, fragment.when));
    for (const auto& call : fragment.calls) message.lines.push_back("  " + call);
  }

  Message root(const Stuck& fragment, const NamedData& data) const {
    Message message{fragment.at,    "", "", fmt::format("needs {}{}{}", data.text, data.here, fragment.when),
                    fragment.calls, {}};
    const auto* const entry = known(data.id);
    if (entry == nullptr) {
      message.text = fmt::format("Nobody writes {}.", data.text), message.code = "SEM3";
      add_written(message, data);
    } else if (entry->state == Stored::State::deleted) {
      message.text = fmt::format("{} was deleted at {}.", data.text, text_of(image_, entry->deleted_at));
      message.code = "SEM3.6", message.fix = "delete it with the last fragment that reads it";
      for (const auto& call : entry->deleted_calls) message.lines.push_back("deleted: " + call);
    } else {
      message.text = fmt::format("The use count of {} is exhausted, it is set at {}.", data.text,
                                 text_of(image_, entry->count_at));
      message.code = "SEM3.5", message.fix = use_count_fix;
    }
    return message;
  }

  /// Where names with the same base are written.
  void add_written(Message& message, const NamedData& data) const {
    std::map<std::pair<Place, std::vector<std::string>>, std::vector<Id>> by_writer;
    for (const auto& written : situation_.written)
      if (written.id.base() == data.id.base()) by_writer[{written.at, written.calls}].push_back(written.id);
    if (by_writer.empty()) return;
    const auto name = data.text.substr(0, data.text.find('['));
    const auto& calls = by_writer.begin()->first.second;
    const bool share_calls =
        std::ranges::all_of(by_writer, [&](const auto& entry) { return entry.first.second == calls; });
    std::vector<std::string> parts;
    for (auto& [writer, ids] : by_writer) {
      std::sort(ids.begin(), ids.end());
      auto part = fmt::format("{} at {}", ranges_of(name, ids), text_of(image_, writer.first));
      for (const auto& call : writer.second)
        if (!share_calls || parts.size() + 1 == by_writer.size()) part += ", " + call;
      parts.push_back(std::move(part));
    }
    const auto verb = by_writer.size() == 1 && by_writer.begin()->second.size() > 1 ? "are" : "is";
    parts[0] = parts[0].insert(parts[0].find(" at "), fmt::format(" {} written", verb));
    message.lines.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }

  /// `y[0..6][0]`, if the names differ in one index only and have no gap, otherwise the first and the last.
  static std::string ranges_of(const std::string& name, const std::vector<Id>& ids) {
    const auto first = ids.front().indices(), last = ids.back().indices();
    std::size_t differing = 0, at = 0;
    for (std::size_t i = 0; i < std::min(first.size(), last.size()); ++i)
      if (first[i] != last[i]) ++differing, at = i;
    const bool range = ids.size() > 1 && first.size() == last.size() && differing == 1 &&
                       static_cast<std::size_t>(last[at] - first[at]) + 1 == ids.size();
    const auto write = [&](std::span<const std::int32_t> indices) {
      auto text = name;
      for (std::size_t i = 0; i < indices.size(); ++i)
        text +=
            range && i == at ? fmt::format("[{}..{}]", first[at], last[at]) : fmt::format("[{}]", indices[i]);
      return text;
    };
    if (range || ids.size() == 1) return write(first);
    return fmt::format("{} to {} ({} names)", write(first), write(last), ids.size());
  }

  void explain(std::size_t fragment) {
    if (explained_[fragment]) return;
    explained_[fragment] = true;
    fresh_.push_back(fragment);
  }
  /// Those that wait for somebody whose waiting is explained need no cause of their own.
  void spread() {
    while (!fresh_.empty()) {
      const auto fragment = fresh_.back();
      fresh_.pop_back();
      for (const auto reader : readers_[fragment]) explain(reader);
    }
  }
  /// The fragments that may write what one misses, or the parts of one that waits for its parts.
  [[nodiscard]] std::vector<std::size_t> awaited_by(std::size_t reader) const {
    const auto& fragment = stuck_[reader];
    if (fragment.own.exists())
      return parts_.contains(key_of(fragment.own)) ? parts_.at(key_of(fragment.own))
                                                   : std::vector<std::size_t>{};
    std::vector<std::size_t> awaited;
    for (const auto& data : fragment.missing)
      std::ranges::copy(writers_of(data.id, &fragment), std::back_inserter(awaited));
    return awaited;
  }
  static std::pair<std::int32_t, std::uint64_t> key_of(const GroupToken& token) {
    return {token.creator, token.counter};
  }

  /// Follows first writers from a fragment until one comes again.
  void add_cycle(std::size_t from) {
    std::vector<std::size_t> path;
    for (std::set<std::size_t> seen; seen.insert(from).second; from = awaited_[from].front()) {
      path.push_back(from);
      if (awaited_[from].empty()) return explain(from);
    }
    path.erase(path.begin(), std::ranges::find(path, from));
    std::ranges::rotate(path, std::ranges::min_element(path));
    Message message{stuck_[path[0]].at,
                    "cycle: these fragments wait for each other.",
                    "SEM3",
                    "",
                    stuck_[path[0]].calls,
                    "have one of them need something that is written without the others"};
    message.note = needs(stuck_[path[0]]);
    for (std::size_t i = 1; i < path.size(); ++i) {
      const auto& member = stuck_[path[i]];
      message.lines.push_back(fmt::format("{} {}", text_of(image_, member.at), needs(member)));
      for (const auto& call : member.calls) message.lines.push_back("  " + call);
    }
    messages_.push_back(std::move(message));
    for (const auto member : path) explain(member);
  }
  static std::string needs(const Stuck& fragment) {
    if (fragment.own.exists()) return "waits for all that it created";
    return fmt::format("needs {}{}{}", fragment.missing[0].text, fragment.missing[0].here, fragment.when);
  }

  std::vector<Message> finish() {
    const auto waiting = std::ranges::count_if(
        stuck_, [](const Stuck& fragment) { return !fragment.failed && !fragment.own.exists(); });
    std::ranges::stable_sort(messages_, {}, &Message::at);
    if (messages_.empty()) return {};
    messages_[0].text = fmt::format("the program cannot finish: {} {}. {}", waiting,
                                    waiting == 1 ? "fragment waits" : "fragments wait", messages_[0].text);
    return std::move(messages_);
  }

  const Image& image_;
  std::vector<Stuck> stuck_;
  const Situation& situation_;
  std::vector<bool> explained_;
  std::vector<std::size_t> fresh_;  ///< explained ones whose readers are not yet
  std::vector<std::vector<std::size_t>> awaited_, readers_;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::vector<std::size_t>> parts_;  ///< of groups
  std::map<Id, std::vector<std::size_t>> exact_writers_;
  std::map<Id, std::vector<std::size_t>> other_writers_;  ///< by base name
  std::map<Id, std::size_t> roots_;
  std::vector<Message> messages_;
};

}  // namespace

std::vector<Message> verdict(const Image& image, const Situation& situation) {
  return Judgement(image, situation).messages();
}

}  // namespace tailrace::fragments
