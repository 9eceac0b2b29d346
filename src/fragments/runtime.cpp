// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "am/tree_sum.hpp"
#include "base/check.hpp"
#include "fragments/machine.hpp"
#include "fragments/wire.hpp"

namespace tailrace::fragments {

namespace {

/// The messages between ranks: modules of the endpoint.
enum MessageKind : int {
  fragment_message,
  post_message,
  request_message,
  answer_message,
  remove_message,
  finished_message,
  report_message,
  question_message,
  knowledge_message,
  ending_message,
  printed_message
};

/// One rank's part of a program that runs on all.
class Runtime {
 public:
  Runtime(am::Endpoint& endpoint, const std::shared_ptr<const Image>& image, const Bodies& bodies,
          PrintedLines* printed)
      : endpoint_(endpoint),
        termination_(endpoint),
        machine_(image, bodies, {.rank = endpoint.rank()}),
        printed_(printed) {
    handle(fragment_message, [this](MessageReader& in) { arrive(in); });
    handle(post_message, [this](MessageReader& in) { write(read<Post>(in)); });
    handle(request_message, [this](MessageReader& in) { answer(in); });
    handle(answer_message, [this](MessageReader& in) { take_answer(in); });
    handle(remove_message, [this](MessageReader& in) { store_.remove(read<Removal>(in)); });
    handle(finished_message, [this](MessageReader& in) { finished_.push_back(read<GroupToken>(in)); });
    handle(report_message, [this](MessageReader& in) { take_report(in); });
    handle(question_message, [this](MessageReader& in) { send_knowledge(read<std::vector<Id>>(in)); });
    handle(knowledge_message, [this](MessageReader& in) { take_knowledge(in); });
    handle(ending_message, [this](MessageReader& in) { take_ending(in); });
    handle(printed_message, [](MessageReader& in) { print(read<std::string>(in)); });
  }

  Ending run(const std::vector<std::string>& words) {
    auto start = machine_.start(words);
    if (endpoint_.rank() == 0) ready_.push_back({std::move(start), true});
    constexpr double nap_s = 1e-3;
    while (!termination_.reached(idle())) {
      const bool worked = step();
      if (!endpoint_.progress() && !worked && !termination_.reached(idle())) endpoint_.wait(nap_s);
    }
    send_report();
    while (!ended_)
      if (!endpoint_.progress()) endpoint_.wait(nap_s);
    return std::move(ending_);
  }

 private:
  struct Entry {
    Fragment fragment;
    bool placed = false;  ///< it stays on this rank
  };
  struct Waiting {
    Entry entry;
    std::vector<Name> missing;
    std::size_t count = 0;
  };

  // Messages
  template <class Function>
  void handle(int kind, Function function) {
    endpoint_.set_handler(kind, am::Lane::data, [this, function](am::Message& message) {
      MessageReader in(machine_.image(), message.body());
      function(in);
    });
  }
  template <class T>
  static T read(MessageReader& in) {
    T value{};
    in >> value;
    return value;
  }
  /// Sends what `writer` holds; its memory lives until the message has left.
  void send(int rank, int kind, Writer& writer) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(writer.take());
    endpoint_.send(rank, kind, {{}, *bytes}, [bytes] {});
  }
  template <class... Values>
  void send_values(int rank, int kind, const Values&... values) {
    Writer writer(machine_.image());
    (writer << ... << values);
    send(rank, kind, writer);
  }

  // Placement
  [[nodiscard]] int rank_of(std::int64_t number) const {
    const auto size = endpoint_.size();
    return static_cast<int>((number % size + size) % size);
  }
  /// The home of a data fragment: by its recommendation; else neighbours in the last index are on
  /// neighbouring ranks, whatever the name, so that what belongs together is together.
  [[nodiscard]] int home_of(const Name& name) const {
    if (const auto wanted = machine_.wanted_home(name)) return rank_of(*wanted);
    const auto indices = name.id.indices();
    return indices.empty() ? static_cast<int>(name.id.hash() % static_cast<std::uint64_t>(endpoint_.size()))
                           : rank_of(indices.back());
  }
  /// Where a fragment that was created goes: as recommended; a body without recommendation, to its first
  /// output once that is known.
  void distribute(Fragment fragment) {
    const auto wanted = machine_.wanted_rank(fragment);
    if (wanted && rank_of(*wanted) != endpoint_.rank()) return forward(rank_of(*wanted), fragment);
    const auto* const callee = fragment.statement->callee;
    const bool recommended =
        !fragment.statement->rules.rank.empty() || (callee != nullptr && !callee->rules.rank.empty());
    const bool structured = callee == nullptr || !callee->external;
    ready_.push_back({std::move(fragment), wanted.has_value() || (structured && !recommended)});
  }
  void forward(int rank, const Fragment& fragment) {
    ++ending_.forwarded;
    send_values(rank, fragment_message, machine_.image().digest, fragment);
  }
  void arrive(MessageReader& in) {
    TAILRACE_CHECK(read<std::uint64_t>(in) == machine_.image().digest, "all ranks run the same program");
    ready_.push_back({read<Fragment>(in), true});
  }
  /// Where a fragment that is to run wants to be, if it is not here.
  [[nodiscard]] std::optional<int> elsewhere(const Entry& entry, const Resolution& resolution) const {
    if (entry.placed || resolution.fault) return {};
    std::optional<int> rank;
    if (resolution.rank) rank = rank_of(*resolution.rank);
    for (const auto& argument : resolution.arguments)
      if (const auto* const name = std::get_if<Name>(&argument); name != nullptr && !rank)
        rank = home_of(*name);
    return rank && *rank != endpoint_.rank() ? rank : std::nullopt;
  }

  // Execution
  [[nodiscard]] bool idle() const { return ready_.empty() && unfolding_.empty() && finished_.empty(); }
  bool step() {
    if (!finished_.empty()) {
      const auto group = finished_.front();
      finished_.pop_front();
      apply(machine_.child_finished(group));
      return true;
    }
    auto& queue = ready_.empty() ? unfolding_ : ready_;  // what is there runs before loops create more
    if (queue.empty()) return false;
    auto entry = std::move(queue.front());
    queue.pop_front();
    advance(std::move(entry));
    return true;
  }
  void advance(Entry entry) {
    auto resolution = machine_.resolve(entry.fragment);
    const auto rank = elsewhere(entry, resolution);
    if (rank && (resolution.ready() || output_known(entry, resolution)))
      return forward(*rank, entry.fragment);
    if (!resolution.ready()) return wait(std::move(entry), std::move(resolution.missing));
    auto effects = machine_.execute(entry.fragment, std::move(resolution));
    if (effects.fault) fail(entry.fragment, *effects.fault);
    if (!effects.fault && !effects.again) ++ending_.executed;
    send_printed();
    apply(std::move(effects));
  }
  /// Whether the first output is known before the inputs are here: then these need not come to this rank.
  static bool output_known(const Entry& entry, const Resolution& resolution) {
    const auto& statement = *entry.fragment.statement;
    const bool body = statement.callee != nullptr && statement.callee->external;
    return body && statement.rules.rank.empty() &&
           std::ranges::any_of(resolution.arguments,
                               [](const Slot& slot) { return std::holds_alternative<Name>(slot); });
  }
  void fail(const Fragment& fragment, const Fault& fault) {
    failures_.push_back(message_of(machine_.image(), fault, fragment.frame->call));
    stuck_.push_back(describe(machine_.image(), fragment, {}));
    stuck_.back().failed = true;
  }
  void apply(Effects effects) {
    for (auto& post : effects.posts) publish(std::move(post));
    for (const auto& removal : effects.deletes) remove(removal);
    for (auto& fragment : effects.created) distribute(std::move(fragment));
    if (effects.again) {
      auto& queue = effects.again->statement->kind == Kind::loop ? unfolding_ : ready_;
      queue.push_back({std::move(*effects.again), true});
    }
    for (const auto& group : effects.finished) notify(group);
  }
  void notify(const GroupToken& group) {
    if (group.rank == endpoint_.rank())
      finished_.push_back(group);
    else
      send_values(group.rank, finished_message, group);
  }

  // What bodies print
  void send_printed() {
    if (printed_ == nullptr) return;
    const auto lines = printed_->take();
    if (!lines.empty()) send_values(0, printed_message, lines);
  }
  static void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  // Data fragments
  void publish(Post post) {
    const int home = home_of(post.name);
    if (home == endpoint_.rank()) return write(std::move(post));
    send_values(home, post_message, post);
  }
  void remove(const Removal& removal) {
    const int home = home_of(removal.name);
    if (home == endpoint_.rank()) return store_.remove(removal);
    send_values(home, remove_message, removal);
  }
  void write(Post post) {
    std::vector<Delivery> deliveries;
    const auto copy = post;
    if (const auto* const earlier = store_.post(std::move(post), deliveries))
      failures_.push_back(written_twice(machine_.image(), *earlier, copy));
    for (auto& delivery : deliveries) deliver(copy.name.id, std::move(delivery));
  }
  void deliver(const Id& id, Delivery delivery) {
    if (delivery.to.rank == endpoint_.rank()) return take(delivery.to.token, id, std::move(delivery.value));
    send_values(delivery.to.rank, answer_message, delivery.to.token, id, delivery.value);
  }
  void answer(MessageReader& in) {
    const auto name = read<Name>(in);
    const auto reader = read<Reader>(in);
    if (auto value = store_.request(name, reader)) deliver(name.id, {reader, std::move(*value)});
  }
  void take_answer(MessageReader& in) {
    const auto token = read<std::uint64_t>(in);
    const auto id = read<Id>(in);
    take(token, id, read<Value>(in));
  }
  void take(std::uint64_t token, const Id& id, Value value) {
    auto& waiting = waiting_.at(token);
    waiting.entry.fragment.inputs.push_back({id, std::move(value)});
    if (--waiting.count == 0) resume(token);
  }
  void resume(std::uint64_t token) {
    ready_.push_back(std::move(waiting_.at(token).entry));
    waiting_.erase(token);
  }
  void wait(Entry entry, std::vector<Name> missing) {
    const auto token = ++tokens_;
    auto& waiting = waiting_[token];
    waiting.entry = std::move(entry), waiting.missing = std::move(missing);
    waiting.count = waiting.missing.size();
    const auto names = waiting.missing;  // an answer may end the wait
    for (const auto& name : names) request(name, {endpoint_.rank(), token});
  }
  void request(const Name& name, const Reader& reader) {
    const int home = home_of(name);
    if (home != endpoint_.rank()) return send_values(home, request_message, name, reader);
    if (auto value = store_.request(name, reader)) take(reader.token, name.id, std::move(*value));
  }

  // The end: all ranks report to rank 0, which asks what is known of what is missing, and says how it ended
  void send_report() {
    const auto& image = machine_.image();
    for (const auto& [token, waiting] : waiting_)
      stuck_.push_back(describe(image, waiting.entry.fragment, still_missing(waiting)));
    add_groups(image, endpoint_.rank(), machine_.groups(), stuck_);
    send_values(0, report_message, stuck_, failures_, waiting_.size(), store_.live_count(),
                store_.live_bytes(), ending_.forwarded,
                printed_ == nullptr ? std::string() : printed_->take_rest());
  }
  static std::vector<Name> still_missing(const Waiting& waiting) {
    std::vector<Name> missing;
    const auto& inputs = waiting.entry.fragment.inputs;
    for (const auto& name : waiting.missing)
      if (std::ranges::none_of(inputs, [&](const Input& input) { return input.id == name.id; }))
        missing.push_back(name);
    return missing;
  }
  void take_report(MessageReader& in) {
    auto stuck = read<std::vector<Stuck>>(in);
    auto failures = read<std::vector<Message>>(in);
    std::ranges::move(stuck, std::back_inserter(situation_.stuck));
    std::ranges::move(failures, std::back_inserter(all_failures_));
    total_.waiting += static_cast<std::int64_t>(read<std::size_t>(in));
    total_.left_count += read<std::int64_t>(in);
    total_.left_bytes += read<std::int64_t>(in);
    total_.forwarded += read<std::int64_t>(in);
    print(read<std::string>(in));
    if (++reports_ < endpoint_.size()) return;
    const auto missing = missing_of(situation_.stuck);
    if (missing.empty()) return finish({});
    for (int rank = 0; rank < endpoint_.size(); ++rank) send_values(rank, question_message, missing);
  }
  void send_knowledge(const std::vector<Id>& missing) {
    Situation known;
    add_knowledge(machine_.image(), store_, missing, known);
    send_values(0, knowledge_message, known.missing, known.written);
  }
  void take_knowledge(MessageReader& in) {
    auto missing = read<std::vector<Missing>>(in);
    auto written = read<std::vector<Written>>(in);
    std::ranges::move(missing, std::back_inserter(situation_.missing));
    std::ranges::move(written, std::back_inserter(situation_.written));
    if (++answers_ == endpoint_.size()) finish(verdict(machine_.image(), situation_));
  }
  void finish(std::vector<Message> messages) {
    std::ranges::move(all_failures_, std::back_inserter(messages));
    total_.errors = texts_of(machine_.image(), std::move(messages));
    for (int rank = 0; rank < endpoint_.size(); ++rank)
      send_values(rank, ending_message, total_.errors, total_.waiting, total_.left_count, total_.left_bytes,
                  total_.forwarded);
  }
  void take_ending(MessageReader& in) {
    in >> ending_.errors >> ending_.waiting >> ending_.left_count >> ending_.left_bytes >> ending_.forwarded;
    ended_ = true;
  }

  am::Endpoint& endpoint_;
  am::Termination termination_;
  Machine machine_;
  PrintedLines* printed_;
  Store store_;
  std::deque<Entry> ready_, unfolding_;
  std::deque<GroupToken> finished_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t tokens_ = 0;
  std::vector<Message> failures_;
  std::vector<Stuck> stuck_;
  Ending ending_;
  bool ended_ = false;
  // of rank 0
  Situation situation_;
  std::vector<Message> all_failures_;
  Ending total_;
  int reports_ = 0, answers_ = 0;
};

}  // namespace

Ending run(am::Endpoint& endpoint, const std::shared_ptr<const Image>& image, const Bodies& bodies,
           const std::vector<std::string>& words, PrintedLines* printed) {
  return Runtime(endpoint, image, bodies, printed).run(words);
}

}  // namespace tailrace::fragments
