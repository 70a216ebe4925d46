// Tables of size windows: holes, overlaps and files that are never chosen are named, whole tables pass.
#include "exchange/size_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hocket {
namespace {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("size_table_{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string add(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string msccl(std::string_view attributes) {
  return fmt::format("<algo name=\"a\" coll=\"allreduce\" ngpus=\"8\" inplace=\"1\" {}></algo>\n", attributes);
}

std::vector<SizeFinding> findings_of(const SizeTable& table) {
  std::vector<SizeFinding> all = table.findings;
  for (SizeFinding& f : find_gaps(table.entries)) all.push_back(std::move(f));
  return all;
}

TEST(SizeTable, FoldersOfMscclFiles) {
  const Folder folder;
  const std::string a = folder.add("a.xml", msccl(R"(outofplace="0" minBytes="0" maxBytes="9216")"));
  const std::string b = folder.add("b.xml", msccl(R"(outofplace="0" minBytes="16384" maxBytes="65536")"));
  const std::string c = folder.add("c.xml", msccl(R"(outofplace="0" minBytes="65536" maxBytes="0")"));
  const std::string d = folder.add("d.xml", msccl(R"(maxBytes="1024")"));
  const std::string e = folder.add("readme.txt", "not a table\n");
  const Result<SizeTable> table = read_size_table(folder.path());
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_EQ(table->left_out, std::vector<std::string>{e});
  const std::vector<SizeFinding> found = findings_of(*table);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].text, d + ":1:2: no minBytes: readers that want it never choose this file");
  EXPECT_EQ(found[2].kind, "overlap");
  EXPECT_EQ(found[3].text,
            "allreduce of 8 ranks, in place: 9217B to 16383B is taken by none, between " + a + " and " + b);
  EXPECT_EQ(found[4].text,
            "allreduce of 8 ranks, in place: 64KiB to 64KiB is taken by " + b + " (a) and " + c + " (a)");
}

TEST(SizeTable, WindowsThatMeetHaveNoFindings) {
  const Folder folder;
  const std::string path = folder.add("t.csv",
                                      "allreduce,0,65536,tree,simple,-1,1,-1\n"
                                      "allreduce,65537,4294967295,ring,ll128,-1,1,-1\n"
                                      "allreduce,1,5,ring,ll128,-1,2,-1\n");
  const Result<SizeTable> table = read_size_table(path);
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_EQ(table->entries.size(), 3U);
  EXPECT_TRUE(findings_of(*table).empty()) << findings_of(*table).front().text;
}

TEST(SizeTable, LinesForAnyRanksMeetThoseForSome) {
  const Folder folder;
  const auto first_finding = [&](const std::string& lines) {
    const Result<SizeTable> table = read_size_table(folder.add("any.csv", lines));
    EXPECT_TRUE(table);
    const std::vector<SizeFinding> found = findings_of(*table);
    return found.size() == 1 ? found[0].text : fmt::format("{} findings", found.size());
  };
  EXPECT_TRUE(first_finding("allreduce,0,100,ring,simple,-1,-1,-1\nallreduce,50,200,tree,simple,-1,-1,8\n")
                  .starts_with("all_reduce of 8 ranks on any nodes: 50B to 100B is taken by"));
  EXPECT_TRUE(first_finding("allreduce,0,100,ring,simple,-1,-1,-1\nallreduce,200,300,tree,simple,-1,-1,8\n")
                  .starts_with("all_reduce of 8 ranks on any nodes: 101B to 199B is taken by none"));
  // Neither names the other's ranks or nodes, and both fit 8 ranks on 2 nodes.
  EXPECT_TRUE(first_finding("allreduce,0,100,ring,simple,-1,2,-1\nallreduce,50,200,tree,simple,-1,-1,8\n")
                  .starts_with("all_reduce of 8 ranks on 2 nodes: 50B to 100B is taken by"));
}

TEST(SizeTable, PlannedWindowsWithAHole) {
  const Folder folder;
  const std::string path = folder.add("w.json",
                                      R"({"collective":"all_reduce","ranks":9,"topology":"torus:3x3","windows":[
        {"from_bytes":1,"to_bytes":10,"algorithm":"swing"},{"from_bytes":12,"to_bytes":20,"algorithm":"ring"}]})");
  const Result<SizeTable> table = read_size_table(path);
  ASSERT_TRUE(table) << table.error().text;
  const std::vector<SizeFinding> found = findings_of(*table);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "hole");
  EXPECT_NE(found[0].text.find("11B to 11B is taken by none"), std::string::npos) << found[0].text;
}

TEST(SizeTable, NoWindowsAndBrokenOnesAreRefused) {
  const Folder folder;
  EXPECT_FALSE(read_size_table(folder.path()));
  const std::string bad = folder.add("bad.xml", msccl(R"(outofplace="0" minBytes="-1" maxBytes="0")"));
  const Result<SizeTable> table = read_size_table(bad);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().text, bad + ":1:2: minBytes=\"-1\" is not a number of bytes");
}

}  // namespace
}  // namespace hocket
