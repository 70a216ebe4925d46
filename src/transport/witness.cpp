#include "transport/witness.h"

#include "net/cause.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// That the store may take to answer; it takes in what it was told also later.
constexpr std::chrono::milliseconds kAnswer{250};

class StoreWitness final : public Witness {
 public:
  StoreWitness(StoreClient& store, std::string root) : store_(&store), root_(std::move(root)) {}

  void tell(const Error& error) override {
    // Another rank may have told before, or nobody be there: no more can be done.
    [[maybe_unused]] const Result<void> told =
        store_->tell_failure(failure_words(error), steady_clock::now() + kAnswer);
  }

  Testimony ask() override {
    const StoreClient::Overheard heard = store_->overhear();
    if (heard.failure) return {read_failure(*heard.failure), {}};
    return {{}, heard.died ? root_ : ""};
  }

 private:
  StoreClient* store_;
  std::string root_;
};

}  // namespace

std::shared_ptr<Witness> make_witness(Job& job) {
  if (!job.store) return nullptr;
  return std::make_shared<StoreWitness>(*job.store, job.members.front().text());
}

}  // namespace hocket
