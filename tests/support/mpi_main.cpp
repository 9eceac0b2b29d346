// SPDX-License-Identifier: BSD-3-Clause
#define DOCTEST_CONFIG_IMPLEMENT
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "base/system.hpp"
#include "mpi/collective.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"

namespace tailrace::test {

namespace {

struct Entry {
  std::string name;
  std::vector<int> counts;
};

/// The cases of this program, in the order of their registration.
std::vector<Entry>& entries() {
  static std::vector<Entry> list;
  return list;
}

/// Describes what this process knows while its cases run.
struct Session {
  mpi::CommView world;
  std::ostringstream output;  ///< says what doctest prints on this rank
  int failures = 0;           ///< failed assertions of this rank so far
  unsigned limit_s = 60;      ///< for each rank count of a short case
  std::string running;        ///< case and rank count, for the message of the time limit
  int cases = 0;              ///< run so far
  std::string results;        ///< directory with a file for each case, if not empty
  bool two_counts = false;    ///< see `counts_to_run`
  std::string failures_text;  ///< says what failing ranks said about the case, on rank 0
};
std::unique_ptr<Session> session;

/// Counts failures as doctest sees them.
struct FailureCounter : doctest::IReporter {
  explicit FailureCounter(const doctest::ContextOptions&) {}
  void log_assert(const doctest::AssertData& data) override {
    if (data.m_failed && (data.m_at & doctest::assertType::is_warn) == 0) ++session->failures;
  }
  void log_message(const doctest::MessageData& data) override {
    if ((data.m_severity & doctest::assertType::is_warn) == 0) ++session->failures;
  }
  void test_case_exception(const doctest::TestCaseException&) override { ++session->failures; }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

/// How long the case that runs may take on a rank count; those of the full runs are long.
unsigned running_limit_s() {
  return session->running.starts_with("full:") ? 4 * session->limit_s : session->limit_s;
}

/// A hang ends here. Not safe in a signal handler by the letter, but the process hangs in MPI and is about to
/// end.
void on_time_limit(int) {
  const auto text = fmt::format("TIME LIMIT: {} did not end within {} s on rank {}\n{}", session->running,
                                running_limit_s(), session->world.rank(), session->output.str());
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  std::_Exit(1);
}

/// Sums up a number over the launch. Ranks without a part in the case sleep meanwhile.
int sum_over_world(int value, bool took_part) {
  std::array sum{std::int32_t{value}};
  mpi::Request request =
      mpi::start_combining(session->world, std::span<std::int32_t>(sum), mpi::Combination::sum);
  constexpr double nap_s = 1e-3;
  if (!took_part)
    while (!mpi::test_all({&request, 1})) sleep_s(nap_s);
  mpi::wait_all({&request, 1});
  return sum[0];
}

/// The number of a case in the order of `--list`.
std::size_t number_of(const char* name) {
  const auto is_it = [name](const Entry& entry) { return entry.name == name; };
  return static_cast<std::size_t>(std::find_if(entries().begin(), entries().end(), is_it) -
                                  entries().begin());
}

/// Writes how a case went into the file that has its number, from rank 0.
void write_result(const char* name, const std::string& text) {
  if (session->results.empty() || !session->world.is_root()) return;
  std::ofstream(fmt::format("{}/{}", session->results, number_of(name))) << text;
}

/// Those of the rank counts of a case that are run: all that the launch has room for. With --two-counts, of a
/// case for four or more, one of the two largest and one of the others, which are other ones for the next
/// case: six cases have all pairs.
std::vector<int> counts_to_run(const ranks& wanted, std::size_t number) {
  std::vector<int> counts = wanted.counts;
  std::erase_if(counts, [](int count) { return count > session->world.size(); });
  if (!session->two_counts || wanted.shared || wanted.counts.size() <= 3 || counts.size() <= 2) return counts;
  const std::size_t others = counts.size() - 2;
  return {counts[number % others], counts[others + number / others % 2]};
}

/// Prints what the failing ranks have to say, from rank 0.
void print_failures(const std::string& running, bool failed_here) {
  const std::string mine = failed_here ? session->output.str() : "";
  const auto texts = mpi::gather(session->world, mine, 0);
  std::string all;
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    if (!texts[rank].empty()) all += fmt::format("--- {}, rank {} ---\n{}", running, rank, texts[rank]);
  fmt::print("{}", all);
  session->failures_text += all;
  std::fflush(stdout);
}

/// Runs the body; an exception counts as a failure and is reported at once, as the other ranks may now wait
/// for this one.
void run_body(MpiBody body, mpi::CommView comm) {
  try {
    body(comm);
  } catch (const doctest::detail::TestFailureException&) {
    fmt::print(stderr, "{}, rank {}: a required condition failed\n", session->running, comm.rank());
  } catch (...) {
    const auto message = describe_current_exception().message;
    fmt::print(stderr, "{}, rank {}: exception: {}\n", session->running, comm.rank(), message);
    FAIL_CHECK("exception: ", message);
  }
}

/// Runs a case on one rank count. Returns whether it passed on all ranks.
bool run_at(const char* name, int count, MpiBody body) {
  session->running = fmt::format("{} [{} ranks]", name, count);
  const int before = session->failures;
  alarm(running_limit_s());
  auto comm =
      std::make_unique<mpi::Comm>(mpi::Comm::split(session->world, session->world.rank() < count ? 0 : -1));
  const bool takes_part = !comm->empty();
  if (takes_part) run_body(body, comm->view());
  const int failed_here = session->failures - before;
  const bool passed = sum_over_world(failed_here, takes_part) == 0;
  if (!passed) {
    print_failures(session->running, failed_here > 0);
    // Messages may still be under way on it, and freeing is collective: it is left to the end of the process.
    [[maybe_unused]] static std::vector<mpi::Comm*>& lost = *new std::vector<mpi::Comm*>;
    lost.push_back(comm.release());
  }
  alarm(0);
  session->output.str("");
  return passed;
}

}  // namespace

int list_cases() {
  for (const auto& entry : entries())
    fmt::print("{}  [ranks {}]\n", entry.name, fmt::join(entry.counts, ", "));
  return 0;
}

Registered::Registered(const char* name, const ranks& wanted) {
  entries().push_back({name, wanted.counts});
}

void run_case(const char* name, const ranks& wanted, MpiBody body) {
  const double start_s = monotonic_s();
  ++session->cases;
  write_result(name, "the launch ended while this case ran\n");
  session->failures_text.clear();
  const auto done = counts_to_run(wanted, number_of(name));
  bool passed = true;
  for (const int count : done) passed = run_at(name, count, body) && passed;
  if (done.empty()) {
    passed = false;
    session->failures_text =
        fmt::format("{} needs {} ranks, started with {}: give it a count that fits\n", name,
                    *std::min_element(wanted.counts.begin(), wanted.counts.end()), session->world.size());
    if (session->world.is_root()) fmt::print("{}", session->failures_text);
  }
  const auto line = fmt::format("{:6} {} [ranks {}] {:.2f} s\n", passed ? "ok" : "FAILED", name,
                                fmt::join(done, ", "), monotonic_s() - start_s);
  write_result(name, line + session->failures_text);
  if (session->world.is_root()) {
    fmt::print("{}", line);
    std::fflush(stdout);
  }
  if (!passed) FAIL_CHECK("failed on at least one rank");
  session->output.str("");
}

/// Reads what doctest does not know: --time-limit=SECONDS, --results=DIRECTORY, --two-counts, and a part of
/// a name as a filter.
void read_options(int argc, char** argv, doctest::Context& context) {
  for (const std::string_view word : std::vector<std::string_view>(argv + 1, argv + argc)) {
    constexpr std::string_view limit = "--time-limit=", results = "--results=";
    if (word == "--two-counts") session->two_counts = true;
    if (word.starts_with(results)) session->results = word.substr(results.size());
    if (word.starts_with(limit))
      session->limit_s = static_cast<unsigned>(std::stoul(std::string(word.substr(limit.size()))));
    if (!word.starts_with("-")) context.addFilter("test-case", fmt::format("*{}*", word).c_str());
  }
}

int run_all(mpi::CommView world, int argc, char** argv) {
  session = std::make_unique<Session>();
  session->world = world;
  std::signal(SIGALRM, on_time_limit);
  doctest::Context context(argc, argv);
  context.setCout(&session->output);
  context.setOption("no-intro", true);
  context.setOption("no-colors", true);
  read_options(argc, argv, context);
  int status = context.run();
  if (session->cases == 0) {
    if (world.is_root()) fmt::print("no case has a name like that; --list names them\n");
    status = 1;
  }
  if (world.is_root()) fmt::print("{}", session->output.str());
  return sum_over_world(status, true) == 0 ? 0 : 1;
}

}  // namespace tailrace::test

DOCTEST_REGISTER_LISTENER("failure-counter", 1, tailrace::test::FailureCounter);

/// `--list` names the cases and needs no launcher.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") return tailrace::test::list_cases();
  tailrace::mpi::Environment environment(argc, argv);
  return tailrace::test::run_all(environment.world(), argc, argv);
}
