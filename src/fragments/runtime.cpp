// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <ranges>

#include "am/tree_sum.hpp"
#include "base/check.hpp"
#include "fragments/balance.hpp"
#include "fragments/closing.hpp"
#include "fragments/copies.hpp"
#include "fragments/ended_blocks.hpp"
#include "fragments/limits.hpp"
#include "fragments/pausing.hpp"
#include "fragments/placement.hpp"
#include "fragments/printing.hpp"
#include "fragments/program_state.hpp"
#include "fragments/pushes.hpp"
#include "fragments/recording.hpp"
#include "fragments/workers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::fragments {

namespace {

/// Bytes that wait for slow ranks, beyond which no fragments are created for them.
constexpr std::int64_t longest_backlog_bytes = 256 << 10;

/// One rank's part of a program that runs on all.
class Runtime {
 public:
  Runtime(am::Endpoint& endpoint, const std::shared_ptr<const Image>& image, const Bodies& bodies,
          const RunOptions& options)
      : endpoint_(endpoint),
        termination_(endpoint),
        machine_(image, bodies,
                 {.rank = endpoint.rank(),
                  .batch = batch_within(options.live_fragments),
                  .depth = options.depth,
                  .timed = options.balance != "off"}),
        recording_(*image, endpoint.rank(), options.workers, options.own_process, options.counts),
        mail_(endpoint, *image),
        placement_(mail_, machine_),
        store_(*image, endpoint.size()),
        ended_blocks_(mail_, placement_, store_),
        copies_(
            mail_, machine_, store_, [this](const Name& name) { return placement_.home_of(name); },
            [this](const Id& id, Delivery delivery) { deliver(id, std::move(delivery)); }),
        pushes_(
            mail_, placement_, store_,
            [this](std::uint32_t token, const Id& id, Value value) { take(token, id, std::move(value)); },
            [this](const Name& name, const Reader& reader) { request(name, reader); },
            [this](const Name& name, const Origin& reader) { count_use(name, reader); }),
        limits_(mail_, options),
        printed_(options.printed),
        printing_(mail_, options.printed),
        checkpoints_(options.taken),
        pausing_(mail_, options.taken, options.between),
        state_(mail_, parts()),
        closing_(mail_, *image, store_, [this](const std::string& text) { printing_.print(text); }) {
    set_handlers();
    check_limits(options);
    balance_.emplace(mail_, options.balance,
                     ReadyFragments{tasks_, bodies_, unfolding_, foreign_bytes_, recording_},
                     [this](auto moved) { take_moved(std::move(moved)); });
    if (options.workers > 1)
      workers_.emplace(machine_, recording_, options.workers, options.own_process,
                       [this] { endpoint_.wake(); });
    recording_.watch(store_);
    store_.know_readers(mail_.rank(), [this](auto task, auto& name) { return tasks_.waits(task, name); });
  }

  Ending run(const std::vector<std::string>& words) {
    auto start = machine_.start(words);
    words_ = &words;
    if (!restore() && mail_.rank() == 0) recording_.created(start), arrive(std::move(start), true);
    while (!over()) {
      const bool worked = step();
      balance(worked);
      if (pausing_.due(worked)) attend(), pausing_.look(executed_);
      if (worked && !look_due()) continue;
      recording_.turn_to(Activity::messages);
      if (!endpoint_.progress() && !worked && !over()) nap();
    }
    auto ending = stopped_ ? Ending() : close();
    if (ending.errors.empty()) pausing_.attend_end();
    ending.stopped = stopped_, ending.executed = executed_, ending.executed_before = state_.executed_before();
    ending.paused_s = pausing_.paused_s(), ending.statements = recording_.statements();
    ending.peak_fragments = limits_.peak().fragments, ending.peak_bytes = limits_.peak().bytes;
    ending.live_bytes = live().bytes, ending.known_copies = static_cast<std::int64_t>(copies_.known());
    return ending;
  }

 private:
  /// Whether it is time to look for messages while there is work: nobody sends any to a rank that is alone,
  /// but what is printed.
  bool look_due() {
    constexpr std::uint64_t steps_alone = 64;
    return mail_.size() > 1 || workers_ || ++steps_ % steps_alone == 0;
  }

  void set_handlers() {
    mail_.handle(fragment_message, [this](MessageReader& in) { arrive(in); });
    mail_.handle(post_message, [this](MessageReader& in) {
      auto post = Mail::read<Post>(in);
      in >> post.pushes;
      write(std::move(post));
    });
    mail_.handle(request_message, [this](MessageReader& in) { answer(in); });
    mail_.handle(answer_message, [this](MessageReader& in) { take_answer(in); });
    mail_.handle(remove_message, [this](MessageReader& in) { store_.remove(Mail::read<Removal>(in)); });
    mail_.handle(finished_message,
                 [this](MessageReader& in) { finished_.push_back(Mail::read<GroupToken>(in)); });
  }

  // Fragments and ranks
  /// Where a fragment that was created goes: as recommended; a body without recommendation, to its first
  /// output once that is known.
  void distribute(Fragment fragment) {
    recording_.created(fragment);
    const auto wanted = placement_.recommended(fragment);
    if (wanted && *wanted != mail_.rank()) return forward(*wanted, fragment);
    const bool stays = wanted.has_value() || (!fragment.runs_body() && !fragment.recommended());
    arrive(std::move(fragment), stays);
  }
  void arrive(Fragment fragment, bool placed) {
    arrived_.push_back(&tasks_.add(std::move(fragment), placed));
  }
  void forward(int rank, Fragment& fragment) {
    ++forwarded_;
    foreign_bytes_ -= fragment.foreign_bytes;
    recording_.forwarded(fragment, rank);
    mail_.send(rank, fragment_message, machine_.image().digest, mail_.rank(), fragment.mark, fragment);
  }
  void arrive(MessageReader& in) {
    TAILRACE_CHECK(Mail::read<std::uint64_t>(in) == machine_.image().digest,
                   "all ranks run the same program");
    const int sender = Mail::read<int>(in);
    limits_.sent_by(sender);
    const auto mark = Mail::read<Mark>(in);
    keep(Mail::read<Fragment>(in).with(mark), sender);
  }
  /// Keeps a fragment that came from another rank; -1: from the one that was asked.
  void keep(Fragment fragment, int sender) {
    recording_.arrived(fragment, sender);
    for (const auto& input : fragment.inputs) add_foreign(fragment, input.value);
    arrive(std::move(fragment), true);
  }
  void add_foreign(Fragment& fragment, const Value& value) {
    const auto bytes = static_cast<std::int64_t>(value.bytes().size());
    fragment.foreign_bytes += bytes, foreign_bytes_ += bytes;
  }

  // Limits
  [[nodiscard]] int at_work() const { return workers_ ? workers_->at_work() : 0; }
  [[nodiscard]] Live live() const {
    const auto queued = arrived_.size() + bodies_.size() + unfolding_.size() + waiting_;
    return {static_cast<std::int64_t>(queued) + at_work(),
            store_.live_bytes() + copies_.live_bytes() + pushes_.live_bytes() + foreign_bytes_};
  }
  [[nodiscard]] bool hold() const {
    return limits_.hold() || endpoint_.waiting_bytes() > longest_backlog_bytes;
  }
  /// Whether the program is over on all ranks. If all that is left to do is what ranks hold back, they
  /// proceed.
  bool over() {
    if (stopped_) return true;
    if (!termination_.reached(idle(), static_cast<std::int64_t>(held_back()), pausing_.active() ? 1 : 0))
      return false;
    if (termination_.held() == 0) return true;
    const bool paused = termination_.noted() > 0;
    if (paused && !pausing_.restores()) save();
    termination_.resume();
    if (paused)
      pausing_.end();
    else
      limits_.exceed(), pushes_.give_up();
    return stopped_;
  }
  /// Fragments that this rank could do something with, but does not.
  [[nodiscard]] std::size_t held_back() const {
    return unfolding_.size() + pushes_.awaited() + (pausing_.active() ? arrived_.size() + bodies_.size() : 0);
  }

  /// All ranks have paused, and no message of the program is under way: what there is is its state.
  void save() {
    stopped_ = pausing_.stops();
    if (!pausing_.saves()) return printing_.forget_begun();
    recording_.turn_to(Activity::checkpoint);
    while (!endpoint_.quiet())
      endpoint_.progress();  // others may still wait for the word that all have paused
    state_.save(*checkpoints_, *words_, executed_, stopped_);
    if (stopped_) printing_.forget_begun();
  }
  /// Begins with the state of an earlier run, if there is one.
  bool restore() {
    if (checkpoints_ == nullptr || !state_.restore(*checkpoints_, *words_)) return false;
    pausing_.begin_restore();
    return true;
  }
  void restore(StoredData data) {
    const bool live = data.entry.state == Stored::State::live;
    if (live) copies_.written(data.name, data.entry.value, data.entry.uses);
    store_.restore(data.name.id, std::move(data.entry));
  }
  [[nodiscard]] ProgramState::Parts parts() {
    return {machine_,
            store_,
            tasks_,
            {&arrived_, &bodies_, &unfolding_},
            failures_,
            stuck_,
            printed_,
            placement_,
            [this](StoredData data) { restore(std::move(data)); },
            [this](Fragment fragment, bool placed) {
              for (const auto& input : fragment.inputs) add_foreign(fragment, input.value);
              recording_.created(fragment);
              arrive(std::move(fragment), placed);
            }};
  }

  // Balance
  void balance(bool worked) {
    if (!balance_->active() || pausing_.active()) return;
    const auto queued = std::ssize(arrived_) + std::ssize(bodies_) + std::ssize(unfolding_) + at_work();
    balance_->look(worked, idle(), {queued, executed_});
  }
  void take_moved(std::vector<Fragment> fragments) {
    forwarded_ += std::ssize(fragments);
    for (auto& fragment : fragments) keep(std::move(fragment), -1);
  }

  // Execution
  /// Whether there is nothing to do but what is held back.
  [[nodiscard]] bool idle() const {
    if (!finished_.empty() || at_work() > 0 || ended_blocks_.waiting()) return false;
    return pausing_.active() || (arrived_.empty() && bodies_.empty() && (unfolding_.empty() || hold()));
  }
  void nap() {
    // What arrives, and workers, wake it. A long wait has few looks; lines of bodies at work leave soon.
    constexpr double longest_s = 10, longest_at_work_s = 0.2, longest_attending_s = 1e-3;
    printing_.send();
    recording_.turn_to(Activity::idle);
    const double usual_s = pausing_.attends() ? longest_attending_s
                           : at_work() > 0    ? longest_at_work_s
                                              : longest_s;
    endpoint_.wait(ended_blocks_.waiting() ? EndedBlocks::longest_s : usual_s);
  }
  void attend() {
    if (pausing_.attends()) recording_.turn_to(Activity::outside), pausing_.attend();
  }
  /// Does the next thing that there is to do; returns whether there was any.
  bool step() {
    const bool ended = take_ended();
    limits_.note(live());
    ended_blocks_.send_if_due();
    if (!finished_.empty())
      apply(machine_.child_finished(taken(finished_)));
    else if (pausing_.active())
      return ended;
    else if (!arrived_.empty())
      look_at(*taken(arrived_));
    else if (!bodies_.empty() && !(workers_ && workers_->full()))
      start(*taken(bodies_));
    else if (!unfolding_.empty() && !hold())  // what is there runs before more is created
      unfold(*taken(unfolding_));
    else
      return ended;
    return true;
  }
  /// Finds out what a fragment needs, and where it goes.
  void look_at(Task& task) {
    recording_.turn_to(Activity::dependencies);
    auto& resolution = tasks_.resolution_of(task);
    machine_.resolve(task.fragment, resolution);
    const bool ready = resolution.ready();
    if (const auto rank = placement_.elsewhere(task); rank && (ready || task.output_known())) {
      forward(*rank, task.fragment);
      return tasks_.end(task);
    }
    if (!ready) return wait(task);
    recording_.ready(task);
    if (task.fragment.runs_body())
      bodies_.push_back(&task);
    else
      unfolding_.push_front(&task);
  }
  void start(Task& task) {
    task.fragment.release_inputs();
    if (workers_) return workers_->start(task);
    recording_.begins(task, 0);
    auto effects = machine_.run_body(task.fragment, *task.resolution);
    recording_.ends(task, 0);
    conclude(task, std::move(effects));
  }
  bool take_ended() {
    if (!workers_) return false;
    return workers_->take([this](Task& task, Effects effects) { conclude(task, std::move(effects)); });
  }
  void unfold(Task& task) {
    limits_.unfold();
    recording_.unfolds(task);
    conclude(task, machine_.execute(task.fragment, *task.resolution));
  }
  void conclude(Task& task, Effects effects) {
    const auto& fragment = task.fragment;
    recording_.concludes(fragment, effects.again.has_value());
    if (balance_->active() && fragment.runs_body() && !effects.fault) balance_->ran(fragment, effects);
    if (effects.fault) fail(fragment, *effects.fault, effects.no_memory);
    if (!effects.fault && !effects.again) ++executed_;
    foreign_bytes_ -= fragment.foreign_bytes;
    if (effects.again) effects.again->foreign_bytes = 0;  // what a loop keeps is not counted
    tasks_.end(task);
    printing_.send();
    apply(std::move(effects));
  }
  void fail(const Fragment& fragment, const Fault& fault, bool no_memory) {
    failures_.push_back(message_of(machine_.image(), fault, fragment.frame->call));
    if (no_memory) failures_.back().lines.push_back(held_memory(machine_.image(), store_));
    stuck_.push_back(describe(machine_.image(), fragment, {}));
    stuck_.back().failed = true;
  }
  /// What a fragment created is unfolded in the order of the text before what was there: the memory that
  /// unfolding takes is that of the fragments within each other, not of all beside each other.
  void apply(Effects effects) {
    if (!effects.pushes.empty()) Pushes::join(effects);
    for (auto& post : effects.posts) publish(std::move(post));
    for (const auto& removal : effects.deletes) remove(removal);
    for (const auto& [name, label] : effects.pushes) pushes_.push(name, label);
    for (const auto& name : effects.ended) ended_blocks_.add(name);
    if (effects.again) arrive(std::move(*effects.again), true);
    for (auto& fragment : effects.created)
      if (fragment.runs_body()) distribute(std::move(fragment));
    for (auto& fragment : effects.created | std::views::reverse)
      if (!fragment.runs_body()) distribute(std::move(fragment));
    for (const auto& group : effects.finished) notify(group);
  }
  void notify(const GroupToken& group) {
    if (const int rank = mail_.rank_of(group.creator); rank == mail_.rank())
      finished_.push_back(group);
    else
      mail_.send(rank, finished_message, group);
  }

  // Data fragments
  void publish(Post post) {
    recording_.posted(post.name.id, post.value.bytes().size());
    const int home = placement_.home_of(post.name);
    if (home == mail_.rank()) return write(std::move(post));
    mail_.send(home, post_message, post, post.pushes);
  }
  void remove(const Removal& removal) {
    const int home = placement_.home_of(removal.name);
    if (home == mail_.rank()) return store_.remove(removal);
    mail_.send(home, remove_message, removal);
  }
  void write(Post post) {
    deliveries_.clear();
    const auto value = post.name.home ? post.value : Value();
    recording_.stored(post.name.id, post.value.bytes().size());
    if (const auto* const earlier = store_.post(post, deliveries_))
      failures_.push_back(written_twice(machine_.image(), *earlier, post));
    else
      copies_.written(post.name, value, post.uses), pushes_.written(post.name, post.pushes);
    for (auto& delivery : deliveries_) deliver(post.name.id, std::move(delivery));
  }
  void deliver(const Id& id, Delivery delivery) {
    if (delivery.to.rank == mail_.rank()) return take(delivery.to.token, id, std::move(delivery.value));
    recording_.delivered(id, delivery.to.rank);
    mail_.send(delivery.to.rank, answer_message, delivery.to.token, id, delivery.value);
  }
  void answer(MessageReader& in) {
    const auto name = Mail::read<Name>(in);
    const auto reader = Mail::read<Reader>(in);
    if (auto value = find(name, reader)) deliver(name.id, {reader, std::move(*value)});
  }
  /// The value of a name whose home is here, or of which there is to be a copy here.
  std::optional<Value> find(const Name& name, const Reader& reader) {
    const bool home = !name.home || placement_.home_of(name) == mail_.rank();
    return home ? store_.request(name, reader) : copies_.request(name, reader);
  }
  void take_answer(MessageReader& in) {
    const auto token = Mail::read<std::uint32_t>(in);
    const auto id = Mail::read<Id>(in);
    auto value = Mail::read<Value>(in);
    add_foreign(tasks_.at(token).fragment, value);
    take(token, id, std::move(value));
  }
  void take(std::uint32_t token, const Id& id, Value value) {
    auto& task = tasks_.at(token);
    recording_.data_arrived(task, id, value.bytes().size());
    task.fragment.set_input(id, std::move(value));
    if (--task.awaited > 0) return;
    recording_.resumes(task);
    resume(task);
  }
  void count_use(const Name& name, const Origin& reader) {
    if (store_.count_use(name.id)) return;
    failures_.push_back(used_too_often(machine_.image(), *store_.find(name.id), name, reader));
  }
  void resume(Task& task) {
    --waiting_;
    arrived_.push_back(&task);
  }
  void wait(Task& task) {
    ++waiting_, task.order = ++waits_;
    auto& missing = task.resolution->missing;
    task.awaited = missing.size() + 1;  // it waits until all are requested
    auto& inputs = task.fragment.inputs;
    const auto known = inputs.size();
    for (auto& name : missing) inputs.push_back({std::move(name), {}});
    const auto expected = pushes_.expected_by(task);
    tasks_.forget(task);
    for (auto i = known; i < inputs.size(); ++i)
      if (!pushes_.await(expected, inputs[i].name, task))
        request(inputs[i].name, {mail_.rank(), task.number});
    if (--task.awaited == 0) return resume(task);
    recording_.waits(task);
  }
  void request(const Name& name, const Reader& reader) {
    const int source = copies_.source_of(name);
    if (source != mail_.rank())
      return recording_.requested(tasks_.at(reader.token), name.id, source),
             mail_.send(source, request_message, name, reader);
    if (auto value = find(name, reader)) take(reader.token, name.id, std::move(*value));
  }

  // The end
  Ending close() {
    recording_.turn_to(Activity::ending);
    recording_.leaves(store_);
    closing_.send(report());
    while (!closing_.complete()) {
      attend();
      if (!endpoint_.progress() && !closing_.complete()) nap();
    }
    return std::move(closing_.ending());
  }
  [[nodiscard]] Report report() {
    const auto& image = machine_.image();
    Report report;
    report.stuck = std::move(stuck_), report.failures = std::move(failures_);
    for (const auto* const task : tasks_.waiting())
      report.stuck.push_back(describe(image, task->fragment, task->fragment.missing()));
    add_groups(image, machine_.groups(), report.stuck);
    report.unused = unused_counts(image, store_), report.waiting = static_cast<std::int64_t>(waiting_);
    report.left_count = store_.live_count(), report.left_bytes = store_.live_bytes();
    report.forwarded = forwarded_;
    report.printed = printing_.take_rest();
    return report;
  }

  am::Endpoint& endpoint_;
  am::Termination termination_;
  Machine machine_;
  Recording recording_;
  Mail mail_;
  Placement placement_;
  Store store_;
  EndedBlocks ended_blocks_;
  Copies copies_;
  Pushes pushes_;
  Limits limits_;
  PrintedLines* printed_;
  Printing printing_;
  Checkpoints* checkpoints_;
  Pausing pausing_;
  ProgramState state_;
  std::vector<Delivery> deliveries_;  ///< of the value that is being written
  Tasks tasks_;
  std::deque<Task*> arrived_;  ///< nobody has looked at
  std::deque<Task*> bodies_, unfolding_;
  std::optional<Balance> balance_;
  std::deque<GroupToken> finished_;
  std::size_t waiting_ = 0;
  std::uint64_t waits_ = 0, steps_ = 0;
  std::int64_t executed_ = 0, forwarded_ = 0, foreign_bytes_ = 0;
  bool stopped_ = false;  ///< the state is saved, and the program ends
  const std::vector<std::string>* words_ = nullptr;
  std::vector<Message> failures_;
  std::vector<Stuck> stuck_;
  Closing closing_;
  std::optional<Workers> workers_;  ///< ends first
};

}  // namespace

Ending run(am::Endpoint& endpoint, const std::shared_ptr<const Image>& image, const Bodies& bodies,
           const std::vector<std::string>& words, const RunOptions& options) {
  return Runtime(endpoint, image, bodies, options).run(words);
}

}  // namespace tailrace::fragments
