// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "h5/file.hpp"
#include "mutate.hpp"
#include "program.hpp"
#include "tailrace/error.hpp"

namespace tailrace::fuzz {

namespace {

namespace fs = std::filesystem;
constexpr const char* old_content = "precious";

struct Ended {
  int status = 0;
  std::string words;  ///< on standard error
};

/// Standard error from now on, to be read after each call of the program, and by others if there is no after.
int captured_errors(const std::string& path) {
  static const int file = [&] {
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    ::dup2(made, STDERR_FILENO);
    return made;
  }();
  return file;
}

Ended call_program(mpi::CommView comm, const std::string& directory, std::vector<std::string> words) {
  const int errors = captured_errors(error_file(directory));
  [[maybe_unused]] const int emptied = ::ftruncate(errors, 0);
  ::lseek(errors, 0, SEEK_SET);
  words.insert(words.begin(), "tailrace-ultrasound");
  words.insert(words.end(), {"--quiet", "-t", "1"});
  std::vector<const char*> argv;
  for (const auto& word : words) argv.push_back(word.c_str());
  Ended ended{.status = ultrasound::run_program(comm, static_cast<int>(argv.size()), argv.data()),
              .words = {}};
  ended.words.resize(static_cast<std::size_t>(::lseek(errors, 0, SEEK_END)));
  const auto got = ::pread(errors, ended.words.data(), ended.words.size(), 0);
  ended.words.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return ended;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Returns what is wrong with the message of a refusal: it names the file, is once and has a fix for
/// everything.
std::string complaint_about_message(const Ended& ended, const std::string& path) {
  const std::string start = "tailrace-ultrasound: " + path + ": ";
  if (ended.status != 1) return fmt::format("status {}", ended.status);
  if (!ended.words.starts_with(start)) return "the message does not name the file";
  if (count_of(ended.words, "tailrace-ultrasound: ") != 1) return "more than one message";
  const bool many = ended.words.find(" problems\n  ") != std::string::npos;
  const auto lines = count_of(ended.words, "\n  ");
  if (count_of(ended.words, ". Fix: ") < (many ? std::max<std::size_t>(lines, 1) : 1))
    return "a problem without a fix";
  return {};
}

/// Numbers that no computation could bear end in warnings.
bool has_only_warnings(const std::string& words) {
  return count_of(words, "tailrace-ultrasound: ") == count_of(words, "tailrace-ultrasound: warning: ") &&
         count_of(words, "tailrace-ultrasound: ") == count_of(words, "\n");
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_small(const std::string& path) {
  const auto file = h5::File::open(path);
  const auto value = [&](const char* name) {
    std::uint64_t number = 0;
    file.read<std::uint64_t>(name, std::span(&number, 1));
    return number;
  };
  constexpr std::uint64_t most = 1000;
  for (const char* name : {"Nx", "Ny", "Nz", "Nt"})
    if (value(name) > most) return false;
  return value("Nx") * value("Ny") * value("Nz") * value("Nt") <= 1'000'000;
}

using Contents = std::map<std::string, std::vector<double>>;

void read_group(const h5::File& file, hid_t group, const std::string& prefix, Contents& contents) {
  H5G_info_t info;
  H5Gget_info(group, &info);
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::vector<char> name(256);
    H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    const std::string path = prefix + "/" + name.data();
    if (file.has_dataset(path)) {
      std::vector<double> values(h5::element_count(file.shape(path)));
      file.read<double>(path, values);
      contents[path] = std::move(values);
    } else {
      const h5::Handle inner(H5Gopen2(group, name.data(), H5P_DEFAULT), H5Gclose, "group");
      read_group(file, inner.get(), path, contents);
    }
  }
}

/// Every dataset of an output file.
Contents contents_of(const std::string& path) {
  const auto file = h5::File::open(path);
  const h5::Handle id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "output");
  const h5::Handle root(H5Gopen2(id.get(), "/", H5P_DEFAULT), H5Gclose, "root");
  Contents contents;
  read_group(file, root.get(), "", contents);
  return contents;
}

class Fixture {
 public:
  Fixture(mpi::CommView comm, std::uint64_t seed, std::string directory)
      : comm_(comm), seed_(seed), directory_(std::move(directory)) {}

  Verdict hold(const std::function<void(const std::string&)>& report) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    mutant_ = make_mutant(seed_, input_);
    report(mutant_.story);
    std::vector<std::string> words{"-i", input_, "--check"};
    words.insert(words.end(), mutant_.input.options.begin(), mutant_.input.options.end());
    const auto checked = call_program(comm_, directory_, words);
    Verdict verdict = checked.status == 0 ? after_acceptance(checked) : after_refusal(checked);
    const auto open = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
    if (verdict.complaint.empty() && open != 0)
      verdict.complaint = fmt::format("{} HDF5 objects left open", open);
    if (!verdict.complaint.empty()) verdict.answer = Answer::wrong;
    return verdict;
  }

 private:
  /// HDF5 1.10 reads damaged texts from beyond its buffers: what is there, and so the answer, may differ
  /// from time to time.
  [[nodiscard]] bool may_change_its_mind() const { return mutant_.damaged; }

  Ended run(const std::string& input, const std::string& output) {
    std::vector<std::string> words{"-i", input, "-o", output};
    words.insert(words.end(), mutant_.input.options.begin(), mutant_.input.options.end());
    return call_program(comm_, directory_, words);
  }

  Verdict after_refusal(const Ended& checked) {
    if (mutant_.harmless) return {.complaint = "a valid input is refused: " + checked.words};
    if (!mutant_.damaged && checked.words.find("is damaged: reading it") != std::string::npos)
      return {.complaint = "a sound file ends the reader: " + checked.words};
    if (auto complaint = complaint_about_message(checked, input_); !complaint.empty())
      return {.complaint = complaint + ": " + checked.words};
    std::ofstream(output_) << old_content;
    const auto before = files();
    const auto ended = run(input_, output_);
    if (may_change_its_mind() && ended.status == 0) return {.answer = Answer::run, .complaint = {}};
    if (ended.status != 1 || (ended.words != checked.words && !may_change_its_mind()))
      return {.complaint = fmt::format("checked: {}run: {} {}", checked.words, ended.status, ended.words)};
    if (text_of(output_) != old_content || files() != before) return {.complaint = "the output was touched"};
    return {.answer = Answer::refused, .complaint = {}};
  }

  Verdict after_acceptance(const Ended& checked) {
    if (count_of(checked.words, "\n") != count_of(checked.words, "tailrace-ultrasound: warning: "))
      return {.complaint = "accepted with words: " + checked.words};
    if (!is_small(input_)) return {.answer = Answer::accepted, .complaint = {}};
    const auto ended = run(input_, output_);
    if (may_change_its_mind() && complaint_about_message(ended, input_).empty())
      return {.answer = Answer::refused, .complaint = {}};
    if (ended.status != 0 || !has_only_warnings(ended.words))
      return {.complaint = fmt::format("accepted, but run: {} {}", ended.status, ended.words)};
    const auto contents = contents_of(output_);
    if (contents.at("/t_index") != contents.at("/Nt")) return {.complaint = "t_index is not Nt"};
    if (mutant_.harmless) return compared_with_unchanged(contents);
    return {.answer = Answer::run, .complaint = {}};
  }

  /// An input that reads the same gives the same output, of finite values.
  Verdict compared_with_unchanged(const Contents& contents) {
    const std::string plain = directory_ + "/plain.h5", expected = directory_ + "/expected.h5";
    Choose choose(seed_);
    write_case(valid_case(choose), plain);
    const auto ended = run(plain, expected);
    if (ended.status != 0) return {.complaint = "the unchanged input fails: " + ended.words};
    for (const auto& [name, values] : contents_of(expected)) {
      if (contents.at(name) != values)
        return {.complaint = name + " differs from that of the unchanged input"};
      const auto is_finite = [](double value) { return std::isfinite(value); };
      if (!std::all_of(values.begin(), values.end(), is_finite))
        return {.complaint = name + " is not finite"};
    }
    return {.answer = Answer::run, .complaint = {}};
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  mpi::CommView comm_;
  std::uint64_t seed_;
  std::string directory_, input_ = directory_ + "/input.h5", output_ = directory_ + "/output.h5";
  Mutant mutant_;
};

}  // namespace

std::string error_file(const std::string& directory) {
  return directory + ".errors";
}

Verdict judge(mpi::CommView comm, std::uint64_t seed, const std::string& directory,
              const std::function<void(const std::string&)>& report) {
  try {
    return Fixture(comm, seed, directory).hold(report);
  } catch (const std::exception& error) {
    return {.complaint = std::string("exception: ") + error.what()};
  }
}

}  // namespace tailrace::fuzz
