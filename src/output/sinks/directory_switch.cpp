// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/directory_switch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "h5/file.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "output/sinks/raw_directories.hpp"

namespace tailrace::output {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t change_bytes = sizeof(DirectoryChange);

/// Reasons that another directory might not have.
bool may_be_better_elsewhere(int error) noexcept {
  constexpr std::array reasons{ENOSPC, EDQUOT, EIO, EROFS, EACCES, EPERM, ENXIO, ENODEV, ESTALE};
  return std::find(reasons.begin(), reasons.end(), error) != reasons.end();
}

int open_file(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) throw file_failure(path, "opening", -1, errno);
  return fd;
}

/// Reads as many bytes as there are, and puts 0 behind the end of the file.
void read_at(int fd, const std::string& path, std::span<std::byte> bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const auto taken = pread(fd, bytes.data(), bytes.size(), offset);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) throw file_failure(path, "reading", offset, errno);
    if (taken == 0) return std::fill(bytes.begin(), bytes.end(), std::byte{0});
    bytes = bytes.subspan(static_cast<std::size_t>(taken));
    offset += taken;
  }
}

/// A lock on the rows of the changes, held by this process as a whole.
class Lock {
 public:
  Lock(int fd, const Hdf5Places& places, short type) : fd_(fd), region_(region(places, type)) {
    while (fcntl(fd_, F_OFD_SETLKW, &region_) != 0)
      if (errno != EINTR) throw file_failure(places.files.front(), "locking", -1, errno);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    region_.l_type = F_UNLCK;
    fcntl(fd_, F_OFD_SETLK, &region_);
  }

  /// Returns whether nobody has a lock that is in the way.
  static bool is_free(int fd, const Hdf5Places& places, short type) noexcept {
    auto wanted = region(places, type);
    return fcntl(fd, F_OFD_GETLK, &wanted) == 0 && wanted.l_type == F_UNLCK;
  }

 private:
  static struct flock region(const Hdf5Places& places, short type) noexcept {
    struct flock region {};
    region.l_type = type;
    region.l_whence = SEEK_SET;
    region.l_start = places.switches;
    region.l_len = change_bytes;
    return region;
  }

  int fd_;
  struct flock region_;
};

std::vector<DirectoryChange> read_changes(int fd, const Hdf5Places& places) {
  std::vector<DirectoryChange> rows(places.directories.size());
  read_at(fd, places.files.front(), std::as_writable_bytes(std::span(rows)), places.switches);
  rows.erase(
      std::find_if(rows.begin(), rows.end(), [](const DirectoryChange& row) { return row.error == 0; }),
      rows.end());
  return rows;
}

/// Copies what is there; holes stay holes.
void copy_bytes(const Descriptor& source, const std::string& from, RawFile& target, std::int64_t offset,
                std::int64_t bytes) {
  constexpr std::int64_t batch_bytes = 1 << 20;
  std::vector<std::byte> batch;
  for (const std::int64_t end = offset + bytes; offset < end;) {
    const auto data = lseek(source.get(), offset, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return;  // nothing more
    offset = data < 0 ? offset : std::min<std::int64_t>(data, end);
    batch.resize(static_cast<std::size_t>(std::min(batch_bytes, end - offset)));
    read_at(source.get(), from, batch, offset);
    target.write_directly(batch, offset);
    offset += static_cast<std::int64_t>(batch.size());
  }
}

std::size_t number_of_directory(const Hdf5Places& places, const std::string& file) {
  const auto found =
      std::find(places.directories.begin(), places.directories.end(), fs::path(file).parent_path().string());
  return static_cast<std::size_t>(found - places.directories.begin());
}

std::vector<std::string> paths_of(const Plan& plan) {
  std::vector<std::string> paths;
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) paths.push_back(spec.path);
  return paths;
}

}  // namespace

h5::DatasetSpec switches_spec(std::size_t directories) {
  return {.path = switches_path,
          .shape = {1, directories, change_bytes / sizeof(std::uint64_t)},
          .type = h5::ElementType::uint64,
          .attributes = {{.name = "data_type", .value = std::string("long")},
                         {.name = "domain_type", .value = std::string("real")}}};
}

std::vector<DirectoryChange> changes_in(const Hdf5Places& places) {
  if (places.switches == 0) return {};
  const Descriptor file(open_file(places.files.front(), O_RDONLY));
  return read_changes(file.get(), places);
}

void forget_changes(const Hdf5Places& places) {
  if (places.switches == 0) return;
  const std::vector<DirectoryChange> none(places.directories.size());
  RawFile file(places.files.front(), make_plain_call());
  file.write_directly(std::as_bytes(std::span(none)), places.switches);
  file.close();
}

std::vector<std::string> describe_changes(const Hdf5Places& places) {
  std::vector<std::string> texts;
  for (const auto& change : changes_in(places))
    texts.push_back(fmt::format("{} took no more at step {}: {}; what was written from there on went to {}",
                                places.directories.at(change.from), change.step,
                                std::strerror(static_cast<int>(change.error)),
                                places.directories.at(change.to)));
  return texts;
}

DirectorySwitch::DirectorySwitch(const Plan& plan, Hdf5Places& places)
    : plan_(plan),
      places_(places),
      datasets_(paths_of(plan)),
      hdf5_(open_file(places.files.front(), O_RDWR)) {
  const Lock lock(hdf5_.get(), places_, F_RDLCK);
  reload();  // of a process that joins later than others have begun
}

void DirectorySwitch::check_locks(mpi::CommView comm) {
  std::optional<Lock> lock;
  mpi::collectively_on_root(comm, [&] { lock.emplace(hdf5_.get(), places_, F_WRLCK); });
  mpi::collectively(comm, [&] {
    if (!comm.is_root() && Lock::is_free(hdf5_.get(), places_, F_RDLCK))
      throw Error(ErrorInfo{
          .kind = ErrorKind::io,
          .message = fmt::format("{}: on_failure = \"switch\" needs locks that all processes see, and this "
                                 "file system keeps them apart",
                                 path()),
          .path = path(),
          .hint =
              "put the output file on another file system, or mount this one with locks (Lustre: flock)"});
  });
}

bool DirectorySwitch::follow() {
  const Lock lock(hdf5_.get(), places_, F_RDLCK);
  const bool now = reload();
  return std::exchange(changed_, false) || now;
}

/// Finds the places again if others have changed them. To be called under a lock.
bool DirectorySwitch::reload() {
  const auto changes = read_changes(hdf5_.get(), places_).size();
  if (changes == known_) return false;
  find_again(plan_, places_);
  known_ = changes;
  return true;
}

bool DirectorySwitch::fail_over(const std::string& file, int error, StepIndex step) {
  const auto from = number_of_directory(places_, file);
  if (!may_be_better_elsewhere(error) || from == places_.directories.size()) return false;
  const Lock lock(hdf5_.get(), places_, F_WRLCK);
  if (reload()) return changed_ = true;
  for (const auto to : targets(from)) {
    try {
      move(from, to);
    } catch (const Error& failure) {
      if (number_of_directory(places_, failure.info().path) != to) throw;
      continue;  // it refuses as well
    }
    mark({.step = static_cast<std::uint64_t>(step),
          .from = from,
          .to = to,
          .error = static_cast<std::uint64_t>(error)});
    return reload();
  }
  return false;
}

/// The directories that were not left yet, those behind `from` first.
std::vector<std::size_t> DirectorySwitch::targets(std::size_t from) const {
  const auto changes = read_changes(hdf5_.get(), places_);
  std::vector<std::size_t> list;
  for (std::size_t i = 1; i < places_.directories.size(); ++i) {
    const std::size_t number = (from + i) % places_.directories.size();
    if (std::none_of(changes.begin(), changes.end(), [&](const auto& c) { return c.from == number; }))
      list.push_back(number);
  }
  return list;
}

/// The step up to which the samples of all ranks are there.
StepIndex DirectorySwitch::recorded() const {
  std::vector<std::uint64_t> slots(static_cast<std::size_t>(places_.commit_mark_slots));
  read_at(hdf5_.get(), path(), std::as_writable_bytes(std::span(slots)), places_.commit_mark);
  return slots.empty() ? 0 : static_cast<StepIndex>(*std::min_element(slots.begin(), slots.end()));
}

/// The stripes in a file whose last sample is not recorded: others are never written again.
std::vector<DirectorySwitch::Stripe> DirectorySwitch::unfinished_stripes(std::size_t file) const {
  const StepIndex recorded_step = recorded();
  std::vector<Stripe> list;
  std::size_t dataset = 0;
  for (const auto& stream : plan_.streams) {
    const StepIndex samples = stream.cadence.samples();
    for (std::size_t i = 0; i < stream.datasets.size(); ++i, ++dataset) {
      const auto& stripes = places_.datasets[dataset];
      if (stripes.empty()) continue;
      const std::int64_t bytes = stripes.back().first + stripes.back().bytes;
      const std::int64_t done = stream.reduction != Reduction::none || samples == 0
                                    ? 0
                                    : bytes / samples * stream.cadence.samples_until(recorded_step);
      for (std::size_t number = 0; number < stripes.size(); ++number)
        if (stripes[number].file == file && stripes[number].first + stripes[number].bytes > done)
          list.push_back({dataset, number});
    }
  }
  return list;
}

/// First all bytes, then all names: whoever looks finds recorded values at any time, and so does who comes
/// after a kill.
void DirectorySwitch::move(std::size_t from, std::size_t to) {
  struct Move {
    std::string file;
    std::vector<Stripe> stripes;
  };
  std::vector<Move> moves;
  for (std::size_t file = 1; file < places_.files.size(); ++file) {
    const auto& name = places_.files[file];
    if (number_of_directory(places_, name) != from) continue;
    auto stripes = unfinished_stripes(file);
    if (stripes.empty()) continue;
    moves.push_back({(fs::path(places_.directories[to]) / fs::path(name).filename()).string(), {}});
    copy(name, moves.back().file, stripes);
    moves.back().stripes = std::move(stripes);
  }
  for (const auto& [file, stripes] : moves) rename(file, stripes);
  if (fdatasync(hdf5_.get()) != 0) throw file_failure(path(), "flushing to the device", -1, errno);
}

/// Copies stripes to the same places in a file of another directory, onto the device.
void DirectorySwitch::copy(const std::string& from, const std::string& to,
                           const std::vector<Stripe>& stripes) const {
  const Descriptor source(open_file(from, O_RDONLY));
  struct stat status {};
  if (fstat(source.get(), &status) != 0) throw file_failure(from, "asking for the size", -1, errno);
  if (access(to.c_str(), F_OK) != 0) make_raw_file(to, path());
  grow_file(to, status.st_size);
  RawFile target(to, make_plain_call());
  for (const auto& [dataset, number] : stripes) {
    const auto& extent = places_.datasets[dataset][number];
    copy_bytes(source, from, target, extent.offset, extent.bytes);
  }
  target.flush();
  target.close();
}

/// Has the HDF5 file look for the stripes in `to`. Each name is eight bytes that lie in one page, and become
/// others at once.
void DirectorySwitch::rename(const std::string& to, const std::vector<Stripe>& stripes) const {
  const auto file = h5::File::open(path());
  RawFile raw(path(), make_plain_call());
  std::optional<std::size_t> looked_at;
  std::vector<h5::ExternalName> names;
  std::uint64_t number = 0;
  for (const auto& stripe : stripes) {
    if (looked_at != stripe.dataset) {
      names = file.external_names(datasets_[stripe.dataset]);
      const auto name = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.file == to; });
      TAILRACE_CHECK(name != names.end(), "a dataset names its files in all directories");
      number = name->number;
      looked_at = stripe.dataset;
    }
    raw.write_directly(std::as_bytes(std::span(&number, 1)),
                       static_cast<std::int64_t>(names[stripe.number].place));
  }
  raw.close();
}

void DirectorySwitch::mark(const DirectoryChange& change) {
  const auto rows = static_cast<std::int64_t>(read_changes(hdf5_.get(), places_).size());
  TAILRACE_CHECK(rows < static_cast<std::int64_t>(places_.directories.size()), "a directory is left once");
  RawFile raw(path(), make_plain_call());
  raw.write_directly(std::as_bytes(std::span(&change, 1)), places_.switches + rows * change_bytes);
  raw.close();
}

}  // namespace tailrace::output
