// Runs the saved inputs of one fuzz target: the empty input, then every file of the folder given, in order of name.
// A missing folder is an empty corpus. A crash names its input: the path is printed before the call.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<char> read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint8_t nothing = 0;
  std::puts("(empty input)");
  LLVMFuzzerTestOneInput(&nothing, 0);
  std::size_t count = 1;
  for (int i = 1; i < argc; ++i) {
    for (const auto& path : files_below(argv[i])) {
      std::puts(path.c_str());
      std::fflush(stdout);
      const std::vector<char> bytes = read_all(path);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++count;
    }
  }
  std::printf("%zu inputs\n", count);
  return 0;
}
