// Exit codes and streams of `hocket doctor` and of `hocket topo --strict`, by running the program.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support/corpus.h"

namespace hocket {
namespace {

struct Finished {
  int exit_code = -1;
  std::string out;  // stdout and stderr
};

Finished run(const std::string& arguments) {
  const std::string command = std::string(HOCKET_BINARY) + " " + arguments + " 2>&1";
  Finished result;
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> block{};
  while (std::fgets(block.data(), block.size(), pipe) != nullptr) result.out += block.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

std::string saved(const std::string& name) { return std::string(HOCKET_SOURCE_DIR) + "/tests/corpus/" + name; }

TEST(DoctorCli, BrokenTracesAreRepairedUnlessStrict) {
  EXPECT_EQ(run("doctor " + saved("kind_chrome_trace/no_bracket")).exit_code, 0);
  const Finished strict = run("doctor --strict " + saved("kind_chrome_trace/empty_value"));
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_NE(strict.out.find("--strict refuses a repair: byte 90: repaired a missing value"), std::string::npos)
      << strict.out;
}

TEST(DoctorCli, AGzipStreamCutShortIsReadUpToTheCut) {
  const std::string cut = testing::TempDir() + "cut_trace.json.gz";
  const std::string pack =
      "i=0; (echo '['; while [ $i -lt 2000 ]; do i=$((i+1)); echo '{\"ph\":\"X\",\"ts\":'$i'},'; done) "
      "| gzip -c | head -c 3000 > " +
      cut;
  ASSERT_EQ(std::system(pack.c_str()), 0);
  const Finished kept = run("doctor " + cut);
  EXPECT_EQ(kept.exit_code, 0) << kept.out;
  EXPECT_NE(kept.out.find("byte 3000: repaired a gzip stream that ends early"), std::string::npos) << kept.out;
  EXPECT_NE(kept.out.find("repaired an end before its time"), std::string::npos) << kept.out;
  EXPECT_EQ(run("doctor --strict " + cut).exit_code, 1);
  std::filesystem::remove(cut);
}

TEST(DoctorCli, OurOwnSweepsAreKnownAndWhatAFileIsTakenForIsSaid) {
  for (const char* name : {"sweep-ace-sram", "sweep-endpoints", "sweep-parallel"}) {
    const Finished sweep = run("doctor " + std::string(HOCKET_SOURCE_DIR) + "/examples/" + name + ".yaml");
    EXPECT_EQ(sweep.exit_code, 0) << sweep.out;
    EXPECT_NE(sweep.out.find("(hocket-sweep)"), std::string::npos) << sweep.out;
  }
  const std::string broken = testing::TempDir() + "broken_sweep.yaml";
  ASSERT_EQ(std::system(("printf 'hocket: sweep\nname: x\nvary: {a: []}\n' > " + broken).c_str()), 0);
  const Finished taken = run("doctor " + broken);
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_NE(taken.out.find("(taken for hocket-sweep)"), std::string::npos) << taken.out;
  std::filesystem::remove(broken);
}

TEST(DoctorCli, ExitCodes) {
  EXPECT_EQ(run("doctor " + saved("topology_csv/plain")).exit_code, 0);
  EXPECT_EQ(run("doctor --strict " + saved("topology_csv/plain")).exit_code, 0);
  EXPECT_EQ(run("doctor " + saved("topology_smi/wrapped")).exit_code, 0);
  EXPECT_EQ(run("doctor --strict " + saved("topology_smi/wrapped")).exit_code, 1);
  EXPECT_EQ(run("doctor " + saved("topology_xml/unknown")).exit_code, 1);
  EXPECT_EQ(run("doctor " + saved("topology_smi/asymmetric")).exit_code, 2);
  EXPECT_EQ(run("doctor " + saved("doctor/binary")).exit_code, 2);
  EXPECT_EQ(run("doctor no/such/file").exit_code, 2);
  EXPECT_EQ(run("doctor").exit_code, 2);
  EXPECT_EQ(run("doctor " + saved("topology_astra/ring") + " " + saved("kind_astra_system/two")).exit_code, 2);
}

TEST(DoctorCli, OneLineOfErrorPerFileAndTheOthersAreStillExamined) {
  const Finished both = run("doctor " + saved("topology_smi/asymmetric") + " " + saved("topology_csv/plain"));
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.out.find("hocket doctor: "), std::string::npos);
  EXPECT_NE(both.out.find("(link-csv)"), std::string::npos) << both.out;
}

TEST(DoctorCli, JsonIsADocument) {
  const Finished result = run("doctor --json " + saved("topology_astra/scalars"));
  const auto document = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << result.out;
  EXPECT_EQ(document["verb"], "doctor");
  const auto& file = document["files"][0];
  EXPECT_EQ(file["format"], "astra-yaml");
  EXPECT_EQ(file["repaired"], 4);
  EXPECT_EQ(file["round_trip"], "same");
  EXPECT_EQ(file["losses"].size(), 7U);
}

TEST(DoctorCli, StrictRefusesWhatTopoWouldRepair) {
  EXPECT_EQ(run("topo " + saved("topology_smi/wrapped")).exit_code, 0);
  const Finished strict = run("topo --strict " + saved("topology_smi/wrapped"));
  EXPECT_EQ(strict.exit_code, 2);
  EXPECT_NE(strict.out.find("--strict refuses a repair: line 4"), std::string::npos) << strict.out;
  EXPECT_EQ(run("plan all_reduce --strict --topo " + saved("topology_smi/wrapped")).exit_code, 2);
}

TEST(DoctorCli, TopoWritesByExtensionAndReadsPipes) {
  const std::string stem = std::filesystem::temp_directory_path() / "hocket_doctor_cli";
  for (const char* extension : {".csv", ".yaml", ".dot", ".svg"}) {
    const std::string file = stem + extension;
    EXPECT_EQ(run("topo torus:3x3 -o " + file).exit_code, 0) << extension;
    EXPECT_GT(std::filesystem::file_size(file), 100U);
    std::filesystem::remove(file);
  }
  EXPECT_EQ(run("topo ring:3 -o " + stem + ".txt").exit_code, 2);
  EXPECT_EQ(run("topo ring:3 --format nvidia-smi").exit_code, 2);
  const Finished piped = run("topo /dev/stdin < " + saved("topology_smi/pairs_sys"));
  EXPECT_EQ(piped.exit_code, 0) << piped.out;
  EXPECT_EQ(
      run("topo ring:3 --format hocket-yaml | " + std::string(HOCKET_BINARY) + " doctor --strict /dev/stdin").exit_code,
      0);
}

}  // namespace
}  // namespace hocket
