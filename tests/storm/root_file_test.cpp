// The files through which ranks find rank 0, HOCKET_ROOT=file:PATH and the private one of a job: what is none of
// hocket's is refused and stays as it is, what is damaged is said in one line, and nothing is left behind.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "support/process.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::Ended;
using test::Process;
using Words = std::vector<std::string>;

const Words kShort{"bench", "all_reduce", "-e", "8", "-b", "8"};

/// A folder of the test's own, as the folder for temporary files too.
class RootFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string private_path(const std::string& job) const {
    return path(fmt::format("hocket-{}/{}", ::geteuid(), job));
  }

  std::string write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directory(std::filesystem::path(file).parent_path());
    std::filesystem::permissions(std::filesystem::path(file).parent_path(), std::filesystem::perms::owner_all);
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return file;
  }

  /// A rank of two; `where` is the variable by which it knows rank 0.
  [[nodiscard]] std::unique_ptr<Process> start(const char* rank, const std::string& where, const char* timeout = "1s",
                                               const Words& verb = kShort, const Words& more = {}) const {
    Words words{HOCKET_BINARY};
    words.insert(words.end(), verb.begin(), verb.end());
    words.insert(words.end(), {"--timeout", timeout});
    Words variables{fmt::format("HOCKET_RANK={}", rank),
                    "HOCKET_SIZE=2",
                    fmt::format("HOCKET_LOCAL_RANK={}", rank),
                    "HOCKET_LOCAL_SIZE=2",
                    where,
                    "TMPDIR=" + folder_.string(),
                    "XDG_RUNTIME_DIR="};
    variables.insert(variables.end(), more.begin(), more.end());
    return std::make_unique<Process>(words, variables);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("hocket-root-file-{}", ::getpid());
};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One line that names the file, and that status.
void expect_line(const Ended& end, int status, const std::string& file, const std::string& said) {
  EXPECT_EQ(end.status, status) << end.err;
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  EXPECT_NE(end.err.find("'" + file + "'"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
}

TEST_F(RootFile, WhatNoRank0HasLeftIsRefusedAndStays) {
  for (const char* notes : {"notes\n", "10:30 a meeting with all the others\n", "127.0.0.1:1 short"}) {
    const std::string file = write(path("notes"), notes);
    for (const char* rank : {"0", "1"})
      expect_line(start(rank, "HOCKET_ROOT=file:" + file)->wait(seconds(20)), 2, file, "it does not hold what rank 0");
    EXPECT_EQ(text_of(file), notes);
  }
}

TEST_F(RootFile, DevicesPipesAndLinksAreRefusedAtOnce) {
  const std::string device = path("null");
  const std::string pipe = path("pipe");
  const std::string link = path("link");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(write(path("target"), ""), link);
  Words files{pipe, link};
  if (::mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) files.push_back(device);
  if (files.size() < 3) std::printf("no device is tried: only root makes one\n");
  const auto begin = steady_clock::now();
  for (const std::string& file : files) {
    for (const char* rank : {"0", "1"})
      expect_line(start(rank, "HOCKET_ROOT=file:" + file, "30s")->wait(seconds(20)), 2, file, "is no regular file");
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(file)));
  }
  EXPECT_LT(steady_clock::now() - begin, seconds(15));
}

TEST_F(RootFile, AnEmptyFileIsTaken) {
  const std::string root = "HOCKET_ROOT=file:" + write(path("empty"), "");
  const auto one = start("1", root, "20s");
  std::this_thread::sleep_for(milliseconds(200));
  const auto zero = start("0", root, "20s");
  for (const auto& rank : {one.get(), zero.get()}) {
    const Ended end = rank->wait(seconds(60));
    EXPECT_EQ(end.status, 0) << end.err;
  }
}

TEST_F(RootFile, ADamagedPrivateFileIsNamedAndReplaced) {
  const std::string file = write(private_path("damaged"), "127.0.0.1:1\n");
  expect_line(start("1", "HOCKET_JOB=damaged")->wait(seconds(20)), 3, file, "it does not hold what rank 0 leaves");
  const auto one = start("1", "HOCKET_JOB=damaged", "20s");
  std::this_thread::sleep_for(milliseconds(200));
  const auto zero = start("0", "HOCKET_JOB=damaged", "20s");
  for (const auto& rank : {one.get(), zero.get()}) {
    const Ended end = rank->wait(seconds(60));
    EXPECT_EQ(end.status, 0) << end.err;
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(RootFile, ASecretThatARankWasGivenIsThatOfTheFile) {
  const Words given{"HOCKET_SECRET=sixteen characters", "HOCKET_SECRET=seventeen characters", "HOCKET_SECRET="};
  for (const std::string& where : {"HOCKET_ROOT=file:" + path("root"), std::string("HOCKET_JOB=secrets")}) {
    const std::string file = where.find("JOB") == std::string::npos ? path("root") : private_path("secrets");
    for (const std::string& of_0 : given) {
      for (const std::string& of_1 : given) {
        const auto one = start("1", where, "20s", kShort, {of_1});
        const auto zero = start("0", where, "20s", kShort, {of_0});
        const Ended end_0 = zero->wait(seconds(60));
        const Ended end_1 = one->wait(seconds(60));
        if (of_0 == of_1 || of_1 == given.back()) {
          EXPECT_EQ(end_0.status, 0) << end_0.err;
          EXPECT_EQ(end_1.status, 0) << end_1.err;
        } else {
          expect_line(end_0, 2, file, ") has another secret than '");
          expect_line(end_1, 2, file, "its secret is another than ours (HOCKET_SECRET)");
        }
        EXPECT_FALSE(std::filesystem::exists(file));
      }
    }
  }
}

TEST_F(RootFile, TwoRank0sThatBeginAtOnceAreBothNamed) {
  for (const std::string& where : {"HOCKET_ROOT=file:" + path("root"), std::string("HOCKET_JOB=twins")}) {
    const std::string file = where.find("JOB") == std::string::npos ? path("root") : private_path("twins");
    const auto first = start("0", where, "20s");
    ASSERT_TRUE(first->until<int>(seconds(20), [&]() -> std::optional<int> {
      return std::filesystem::exists(file) ? std::optional(1) : std::nullopt;
    }));
    std::filesystem::rename(file, file + "-aside");  // as if the second had looked before
    const auto second = start("0", where, "20s");
    for (const auto& rank : {first.get(), second.get()}) {
      const Ended end = rank->wait(seconds(60));
      EXPECT_EQ(end.status, 2) << end.err;
      EXPECT_NE(end.err.find("two processes are rank 0: one on host "), std::string::npos) << end.err;
      EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    }
  }
}

TEST_F(RootFile, AFolderForTemporaryFilesThatIsNoneIsPassedOver) {
  for (const std::string& none : {path("nowhere"), write(path("file"), "")}) {
    const Words words{HOCKET_BINARY, "bench", "all_reduce", "--timeout", "300ms"};
    const std::string job = fmt::format("root-file-{}", ::getpid());
    Process rank(words, {"HOCKET_RANK=1", "HOCKET_SIZE=2", "HOCKET_LOCAL_RANK=1", "HOCKET_LOCAL_SIZE=2",
                         "HOCKET_JOB=" + job, "TMPDIR=" + none, "XDG_RUNTIME_DIR="});
    expect_line(rank.wait(seconds(20)), 3, fmt::format("/tmp/hocket-{}/{}", ::geteuid(), job), "has not left");
  }
}

TEST_F(RootFile, NoSpaceForTheFileIsSaidInOneLine) {
  const std::string limited = fmt::format("ulimit -f 0; exec {} bench all_reduce --timeout 5s", HOCKET_BINARY);
  Process rank({"/bin/bash", "-c", limited},
               {"HOCKET_RANK=0", "HOCKET_SIZE=2", "HOCKET_LOCAL_RANK=0", "HOCKET_LOCAL_SIZE=2", "HOCKET_JOB=full",
                "TMPDIR=" + folder_.string(), "XDG_RUNTIME_DIR="});
  expect_line(rank.wait(seconds(20)), 2, private_path("full"), "File too large");
  EXPECT_FALSE(std::filesystem::exists(private_path("full")));
  const std::filesystem::path folder = std::filesystem::path(private_path("full")).parent_path();
  EXPECT_TRUE(!std::filesystem::exists(folder) || std::filesystem::is_empty(folder));
}

TEST_F(RootFile, ASignalToRank0LeavesNoPrivateFile) {
  for (const Words& verb : {Words{"bench", "all_reduce"}, Words{"topo", "probe"}}) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      const auto zero = start("0", "HOCKET_JOB=ended", "30s", verb);
      const std::string file = private_path("ended");
      ASSERT_TRUE(zero->until<int>(seconds(20), [&]() -> std::optional<int> {
        return std::filesystem::exists(file) ? std::optional(1) : std::nullopt;
      }));
      zero->signal(number);
      const Ended end = zero->wait(seconds(5));
      EXPECT_EQ(end.signal, number);
      EXPECT_EQ(end.err, "");
      EXPECT_FALSE(std::filesystem::exists(file)) << verb.front();
      std::filesystem::remove(file);
    }
  }
}

}  // namespace
}  // namespace hocket
