// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fragments/groups.hpp"

namespace tailrace::fragments {

/// Who asked for a value: a rank, and what this rank calls the question.
struct Reader {
  std::int32_t rank = -1;
  std::uint32_t token = 0;
};
struct Delivery {
  Reader to;
  Value value;
};

/// What is known of a name at its home. There are as many as there are data fragments, so what few have is
/// apart.
class Stored {
 public:
  enum class State : std::uint8_t { expected, live, exhausted, deleted };
  State state = State::expected;
  bool deletes = false;  ///< once it is there and has served those who asked before
  bool over = false;     ///< the block that declares it is: likewise, unless it has a use count
  std::int32_t uses = -1;
  std::uint32_t declaration = 0;  ///< of its name
  std::int32_t count_rule = -1;   ///< which rule of its writer says the number of uses
  Value value;
  Origin writer;

  Stored() = default;
  Stored(const Stored& other)
      : state(other.state),
        deletes(other.deletes),
        over(other.over),
        uses(other.uses),
        declaration(other.declaration),
        count_rule(other.count_rule),
        value(other.value),
        writer(other.writer),
        first_(other.first_),
        rest_(other.rest_ ? std::make_unique<Rest>(*other.rest_) : nullptr) {}
  Stored(Stored&&) noexcept = default;
  Stored& operator=(const Stored& other) { return *this = Stored(other); }
  Stored& operator=(Stored&&) noexcept = default;
  ~Stored() = default;

  /// Where the number of uses is said.
  [[nodiscard]] Place count_at() const {
    const bool said = count_rule >= 0 && writer.statement != nullptr;
    return said ? writer.statement->rules.counts[static_cast<std::size_t>(count_rule)].at : Place();
  }
  [[nodiscard]] Origin remover() const { return rest_ ? rest_->remover : Origin(); }
  void set_remover(Origin by) { rest().remover = std::move(by); }
  /// As in its name.
  [[nodiscard]] Shared<const Home> home() const { return rest_ ? rest_->home : Shared<const Home>(); }
  void set_home(Shared<const Home> home) {
    if (home || rest_) rest().home = std::move(home);
  }

  /// Notes who has no answer yet.
  void add_reader(const Reader& reader) {
    if (first_.rank < 0)
      first_ = reader;
    else
      rest().readers.push_back(reader);
  }
  /// Those without an answer, in the order in which they asked; there are none any more.
  [[nodiscard]] std::vector<Reader> take_readers() {
    std::vector<Reader> readers;
    if (first_.rank >= 0) readers.push_back(std::exchange(first_, {}));
    if (rest_)
      readers.insert(readers.end(), rest_->readers.begin(), rest_->readers.end()), rest_->readers = {};
    return readers;
  }

 private:
  struct Rest {
    Origin remover;
    Shared<const Home> home;
    std::vector<Reader> readers;  ///< but for the first
  };
  Rest& rest() {
    if (!rest_) rest_ = std::make_unique<Rest>();
    return *rest_;
  }

  Reader first_;
  std::unique_ptr<Rest> rest_;
};

}  // namespace tailrace::fragments
