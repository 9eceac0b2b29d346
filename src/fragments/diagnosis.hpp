// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fragments/evaluation.hpp"
#include "fragments/store.hpp"

/// Why a program could not finish: all fragments that wait, reduced to what the others wait for.
namespace tailrace::fragments {

/// Data fragments to which a fragment writes or may write: a name and indices, of which some are not known.
struct Pattern {
  Id base;
  std::vector<std::optional<std::int32_t>> indices;
  bool open = false;  ///< further indices may follow
  [[nodiscard]] bool matches(const Id& id) const;
};

/// A data fragment in messages.
struct NamedData {
  Id id;
  std::string text;
  std::string here{};  ///< how the place knows it, if that is another name
};

/// A fragment that waits or that failed, in values that can be sent to another rank.
struct Stuck {
  std::uint32_t statement = 0;
  Place at;
  std::vector<std::string> calls;  ///< "called from FILE:LINE:COLUMN as powers(x, 3)", innermost first
  std::vector<NamedData> missing;
  std::vector<Pattern> writes;
  std::string when;  ///< " at k = 4"
  bool failed = false;
  GroupToken group;    ///< of which it is a part
  GroupToken own;      ///< of a structured fragment that waits for those that it created
  bool block = false;  ///< it is none, but a block whose data fragments go when all is over
};

/// What the home of a missing data fragment knows.
struct Missing {
  Id id;
  Stored::State state = Stored::State::expected;
  Place count_at, deleted_at;
  std::vector<std::string> deleted_calls;
};

/// Data fragments with the same base name that were written.
struct Written {
  Id id;
  Place at;
  std::vector<std::string> calls;
};

/// All that a verdict is made of.
struct Situation {
  std::vector<Stuck> stuck;
  std::vector<Missing> missing;
  std::vector<Written> written;
};

/// A message of the form FILE:LINE:COLUMN: SEVERITY: TEXT [CODE], with the line, a caret and what follows.
struct Message {
  Place at;
  std::string text, code;
  std::string note;  ///< behind the caret
  std::vector<std::string> lines;
  std::string fix;
  std::vector<NamedData> about{};  ///< whose writers are said, too
};
std::string text_of(const Image& image, const Message& message, const char* severity = "error");
inline constexpr std::size_t messages_shown = 20;
inline constexpr const char* use_count_fix = "count this use, too, or say req_unlimited";

/// "called from ..." for each call, the innermost first; at most eight.
std::vector<std::string> calls_of(const Image& image, const Shared<const CallRecord>& call);
/// The account of a fragment that waits for `missing`, or that failed.
Stuck describe(const Image& image, const Fragment& fragment, const std::vector<Name>& missing);
/// The accounts of all structured fragments of a rank that wait for what they created.
void add_groups(const Image& image, const Groups& groups, std::vector<Stuck>& stuck);
/// What a store has to say about the data fragments that somebody misses.
void add_knowledge(const Image& image, const Store& store, const std::vector<Id>& missing,
                   Situation& situation);
/// Which data fragments of a rank have most bytes, for people.
std::string held_memory(const Image& image, const Store& store);
/// The writers of data fragments whose home is this store.
void add_writers(const Image& image, const Store& store, const std::vector<Id>& ids,
                 std::vector<Written>& writers);
/// Says in failures where the data fragments that they are about are written.
void add_writers(const Image& image, const std::vector<Written>& writers, std::vector<Message>& failures);
/// The data fragments that failures are about, each once.
std::vector<Id> about(const std::vector<Message>& failures);
/// All data fragments that fragments miss, each once.
std::vector<Id> missing_of(const std::vector<Stuck>& stuck);

/// The messages of failed fragments.
Message message_of(const Image& image, const Fault& fault, const Shared<const CallRecord>& call);
/// A second write.
Message written_twice(const Image& image, const Stored& first, const Post& second);
/// A use beyond the use count of a value.
Message used_too_often(const Image& image, const Stored& value, const Name& name, const Origin& reader);
/// The texts of a verdict's messages and of failures, in the order of their places; at most 20, then a count.
std::vector<std::string> texts_of(const Image& image, std::vector<Message> messages,
                                  std::vector<Message> failures);
/// The root causes, in the order of their places.
std::vector<Message> verdict(const Image& image, const Situation& situation);

}  // namespace tailrace::fragments
