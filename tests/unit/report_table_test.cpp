// Tables for the terminal: numbers to the right, wide tables wrapped at blanks and never beyond the width when they
// can.
#include "report/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hocket {
namespace {

TEST(ReportTable, NumbersStandRightAndWordsLeft) {
  Table table({"name", "time"});
  table.add({"a", "1.5 ms"});
  table.add({"longer", "12 ms"});
  EXPECT_EQ(table.text(), "name      time\na       1.5 ms\nlonger   12 ms\n");
}

TEST(ReportTable, WideTablesWrapTheirWidestWords) {
  Table table({"name", "description", "size"});
  std::string words;
  for (int i = 0; i < 40; ++i) words += (i == 0 ? "word" : " word") + std::to_string(i);
  table.add({"x", words, "7"});
  std::istringstream lines(table.text());
  std::string line;
  std::string seen;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    EXPECT_LE(line.size(), kTableWidth) << line;
    seen += line + "\n";
  }
  EXPECT_GT(count, 3);
  for (int i = 0; i < 40; ++i) EXPECT_NE(seen.find("word" + std::to_string(i)), std::string::npos);
}

TEST(ReportTable, ControlCharactersAreShownAsNumbers) {
  Table table({"name"});
  table.add({"\x1b[31mred\n"});
  EXPECT_EQ(table.text(), "name\n\\x1b[31mred\\x0a\n");
}

TEST(ReportTable, AWordWithoutBlanksStaysWhole) {
  Table table({"name"});
  const std::string word(150, 'x');
  table.add({word});
  EXPECT_EQ(table.text(), "name\n" + word + "\n");
}

}  // namespace
}  // namespace hocket
