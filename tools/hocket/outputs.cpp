#include "outputs.h"

#include <filesystem>

#include "base/file.h"

namespace hocket {

Result<void> check_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  for (const Output& output : outputs) {
    if (output.path.empty()) continue;
    HOCKET_TRY(check_writable(output.path));
    for (const std::string& input : inputs) {
      std::error_code error;  // words that are no file are equivalent to none
      if (input.find('\0') != std::string::npos || !std::filesystem::equivalent(output.path, input, error)) continue;
      return fail(Code::kInvalidArgument, "{} {}: is the same file as {}, which is read", output.flag, output.path,
                  input);
    }
  }
  return {};
}

}  // namespace hocket
