#include "api/obituary.h"

#include <algorithm>
#include <utility>

#include "net/cause.h"

namespace hocket {
namespace {

/// That a store may take to answer; it takes in what it was told also later.
constexpr std::chrono::milliseconds kAnswer{100};

bool same_process(const Member& a, const Member& b) {
  return a.process == b.process && a.host == b.host && a.place.difference(b.place).empty();
}

/// Null where it is not one alone.
const Member* lost_in(const std::string& text, const std::vector<Member>& members) {
  const Member* lost = nullptr;
  for (const Member& member : members) {
    if (text.find("lost " + member.text()) == std::string::npos) continue;
    if (lost != nullptr) return nullptr;
    lost = &member;
  }
  return lost;
}

}  // namespace

Obituary::Obituary(std::shared_ptr<Family>& family, Job& job, const ForkMark& mark) : job_(&job), mark_(&mark) {
  if (!family) family = std::make_shared<Family>();
  family_ = family;
  const std::lock_guard lock(family_->mutex);
  family_->members.push_back(this);
}

/// In a child of the process the mutex may have been locked when it was made, for good.
Obituary::~Obituary() {
  if (mark_->is_child()) return;
  const std::lock_guard lock(family_->mutex);
  std::erase(family_->members, this);
}

void Obituary::tell_others(const Error& error) {
  if (mark_->is_child()) return;
  const std::lock_guard lock(family_->mutex);
  if (std::exchange(told_, true) || error.code != Code::kPeerFailed) return;
  const Member* lost = lost_in(error.text, job_->members);
  if (lost == nullptr) return;
  for (Obituary* other : family_->members) {
    if (other != this) other->hear(*lost);
  }
}

/// A communicator that this rank is in, and fails as soon as it is used: no other cause is hidden by this one.
void Obituary::hear(const Member& lost) {
  const auto same = [&lost](const Member& member) { return same_process(member, lost); };
  const auto found = std::find_if(job_->members.begin(), job_->members.end(), same);
  if (!job_->store || found == job_->members.end()) return;
  const std::string text =
      fmt::format("{} lost {} in another communicator", job_->members[job_->launch.rank].text(), found->text());
  const std::string words = failure_words({Code::kPeerFailed, text});
  std::ignore = job_->store->tell_failure(words, std::chrono::steady_clock::now() + kAnswer);
  job_->store->overhear_too(words);
}

}  // namespace hocket
