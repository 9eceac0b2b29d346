/// A model of a simulation that writes: every step does a fixed amount of work, then hands a sample of its
/// field, cut into boxes, to the output session. Work is counted in operations, not in time, so that whatever
/// the writing takes from the computation shows. The account goes to standard output as JSON; `tailrace bench
/// output` runs it in its variants.
#include <fmt/format.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "tailrace/base/aligned.hpp"
#include "tailrace/base/error.hpp"
#include "tailrace/base/system.hpp"
#include "tailrace/mpi/comm.hpp"
#include "tailrace/output/session.hpp"

using namespace tailrace;

namespace {

struct Settings {
  std::string file;
  std::vector<std::int64_t> region{128, 128, 32}, boxes{1, 1, 1};
  std::int64_t margin = 8, outputs = 50, work = 0;
  bool no_output = false;
  output::OptionTexts texts;
};

Index3 index_of(const std::vector<std::int64_t>& values) {
  return {values[0], values[1], values[2]};
}

/// Part `k` of `parts` nearly equal parts of n points.
Range part_of(std::int64_t n, std::int64_t parts, std::int64_t k) {
  return {n * k / parts, n * (k + 1) / parts};
}

/// The sampled region, which has a margin on all sides, cut into boxes: a dataset each, all in one stream.
output::Stream make_stream(const Settings& settings) {
  const Index3 region = index_of(settings.region), count = index_of(settings.boxes);
  output::Boxes boxes;
  output::Stream stream;
  for (std::int64_t k = 0; k < count.z; ++k)
    for (std::int64_t j = 0; j < count.y; ++j)
      for (std::int64_t i = 0; i < count.x; ++i) {
        const Range x = part_of(region.x, count.x, i), y = part_of(region.y, count.y, j),
                    z = part_of(region.z, count.z, k);
        const std::int64_t m = settings.margin;
        boxes.boxes.push_back({{x.begin + m, y.begin + m, z.begin + m}, {x.end + m, y.end + m, z.end + m}});
        h5::DatasetSpec spec;
        spec.path = fmt::format("/p/{}", boxes.boxes.size());
        spec.shape = {static_cast<std::uint64_t>(settings.outputs),
                      static_cast<std::uint64_t>(boxes.boxes.back().volume())};
        spec.type = h5::ElementType::float32;
        stream.datasets.push_back(spec);
      }
  stream.name = "p";
  stream.quantity = "p";
  stream.unit = "Pa";
  stream.selection = std::move(boxes);
  stream.cadence = {.first = 1, .every = 1, .last = settings.outputs};
  return stream;
}

/// The simulation: a field that changes in every step, and arithmetic that stays in the first cache.
class Model {
 public:
  explicit Model(const Box& box)
      : box_(box), field_(static_cast<std::size_t>(box.volume())), tile_(tile_values) {
    std::fill(field_.begin(), field_.end(), 1.0F);
    std::fill(tile_.begin(), tile_.end(), 0.5F);
  }

  void advance(std::int64_t work) {
    for (auto& value : field_) value = 0.999F * value + 0.001F;
    for (std::int64_t unit = 0; unit < work; ++unit)
      for (int pass = 0; pass < passes; ++pass)
        for (auto& value : tile_) value = value * 0.9999F + 0.0001F;
  }
  /// Keeps the arithmetic from being optimised away.
  [[nodiscard]] double check() const noexcept { return static_cast<double>(tile_[0]); }

  [[nodiscard]] output::FieldView view() const noexcept {
    const Index3 extents = box_.extents();
    return {.data = field_.data(),
            .type = h5::ElementType::float32,
            .box = box_,
            .stride_y = extents.x,
            .stride_z = extents.x * extents.y};
  }

 private:
  static constexpr std::size_t tile_values = 4096;
  static constexpr int passes = 1024;
  Box box_;
  AlignedVector<float> field_, tile_;
};

struct Outcome {
  double run_s = 0, compute_s = 0;
  output::Account account;
  trace::Total pack;
};

class Trial {
 public:
  Trial(mpi::CommView comm, const Settings& settings) : comm_(comm), settings_(settings) {}

  Outcome run() {
    const Index3 region = index_of(settings_.region);
    const std::int64_t m = 2 * settings_.margin;
    const Index3 domain{region.x + m, region.y + m, region.z + m};
    const Range planes = part_of(domain.z, comm_.size(), comm_.rank());
    const Box own{{0, 0, planes.begin}, {domain.x, domain.y, planes.end}};
    Model model(own);
    std::optional<output::Session> session;
    if (!settings_.no_output) {
      auto plan = output::make_plan({make_stream(settings_)}, own, domain);
      const auto options = output::parse_options(settings_.texts);
      session.emplace(comm_, settings_.file, std::move(plan), output::FileHead{}, options, log_);
    }
    return drive(model, session);
  }

 private:
  Outcome drive(Model& model, std::optional<output::Session>& session) {
    mpi::barrier(comm_);
    Outcome outcome;
    const double start_s = monotonic_s();
    for (StepIndex step = 1; step <= settings_.outputs; ++step) {
      trace::Scope scope(log_, trace::Kind::compute, step);
      model.advance(settings_.work);
      outcome.compute_s += scope.stop();
      mpi::sum(comm_, model.check());  // as the exchanges of a step keep its ranks together
      if (session) session->sample(step, [&](const std::string&) { return model.view(); });
    }
    if (session) session->finish(settings_.outputs, {});
    mpi::barrier(comm_);
    outcome.run_s = monotonic_s() - start_s;
    if (session) outcome.account = session->account();
    outcome.pack = log_.total(trace::Kind::pack);
    return outcome;
  }

  mpi::CommView comm_;
  const Settings& settings_;
  trace::Log log_{"main"};
};

nlohmann::json to_json(const Outcome& outcome) {
  const auto& account = outcome.account;
  return {{"run_s", outcome.run_s},   {"compute_s", outcome.compute_s}, {"pack_s", outcome.pack.seconds},
          {"wait_s", account.wait_s}, {"write_s", account.write_s},     {"write_cpu_s", account.write_cpu_s},
          {"bytes", account.bytes},   {"writes", account.writes},       {"waits", account.waits}};
}

void add_options(CLI::App& app, Settings& settings) {
  app.add_option("--file", settings.file, "output file");
  app.add_option("--region", settings.region, "sampled points along x, y and z")->expected(3);
  app.add_option("--boxes", settings.boxes, "boxes into which they are cut along x, y and z")->expected(3);
  app.add_option("--margin", settings.margin, "points around the sampled region")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--outputs", settings.outputs, "steps, each with a sample")->check(CLI::PositiveNumber);
  app.add_option("--work", settings.work, "units of arithmetic per step and rank")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--no-output", settings.no_output, "compute only");
  app.add_option("--write", settings.texts.write, "strategy");
  app.add_option("--pace", settings.texts.pace, "imitate a slow device");
  app.add_option("--flush", settings.texts.flush, "none, sample");
}

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  Settings settings;
  CLI::App app("A model of a simulation that writes; prints its account as JSON", "tailrace-bench-output");
  add_options(app, settings);
  CLI11_PARSE(app, argc, argv);
  omp_set_num_threads(1);
  try {
    const auto comm = environment.world();
    const auto ranks = mpi::gather(comm, to_json(Trial(comm, settings).run()).dump(), 0);
    if (comm.is_root()) {
      auto all = nlohmann::json::array();
      for (const auto& text : ranks) all.push_back(nlohmann::json::parse(text));
      fmt::print("{}\n", all.dump());
    }
    return 0;
  } catch (...) {
    const auto error = describe_current_exception();
    if (error.rank <= 0) fmt::print(stderr, "tailrace-bench-output: {}\n", error.message);
    if (error.rank < 0) mpi::Environment::abort(1);
    return 1;
  }
}
