#include "transport/witness.h"

#include <charconv>

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// That the store may take to answer; it takes in what it was told also later.
constexpr std::chrono::milliseconds kAnswer{250};

class StoreWitness final : public Witness {
 public:
  StoreWitness(StoreClient& store, std::string root) : store_(&store), root_(std::move(root)) {}

  void tell(const Error& error) override {
    const std::string words = fmt::format("{} {}", static_cast<int>(error.code), error.text);
    // Another rank may have told before, or nobody be there: no more can be done.
    [[maybe_unused]] const Result<void> told = store_->tell_failure(words, steady_clock::now() + kAnswer);
  }

  Testimony ask() override {
    const StoreClient::Overheard heard = store_->overhear();
    if (heard.failure) return {read(*heard.failure), {}};
    return {{}, heard.died ? root_ : ""};
  }

 private:
  static std::optional<Error> read(const std::string& words) {
    int code = -1;
    const char* const end = words.data() + words.size();
    const auto [after, wrong] = std::from_chars(words.data(), end, code);
    if (wrong != std::errc() || code < 0 || code > static_cast<int>(Code::kInternal) || end - after < 2)
      return std::nullopt;
    return Error{static_cast<Code>(code), std::string(after + 1, end)};
  }

  StoreClient* store_;
  std::string root_;
};

}  // namespace

std::shared_ptr<Witness> make_witness(Job& job) {
  if (!job.store) return nullptr;
  return std::make_shared<StoreWitness>(*job.store, job.members.front().text());
}

}  // namespace hocket
