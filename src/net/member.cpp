#include "net/member.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

namespace hocket {
namespace {

Result<void> check_terms(const Member& member, const JobTerms& theirs, const JobTerms& ours) {
  if (theirs.ranks != ours.ranks)
    return fail(Code::kMismatch, "rank {} is one of {} ranks, but {} is one of {}", ours.rank, ours.ranks,
                member.text(), theirs.ranks);
  if (theirs.connections != ours.connections)
    return fail(Code::kMismatch, "rank {} makes {} connections to every rank, but {} makes {}", ours.rank,
                ours.connections, member.text(), theirs.connections);
  if (theirs.cables != ours.cables)
    return fail(Code::kMismatch, "rank {} was given {}, but {} {}: HOCKET_CABLES has the same lines for all ranks",
                ours.rank, ours.cables.text(), member.text(), theirs.cables.text());
  return {};
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

std::string Member::text() const { return fmt::format("rank {} (host {}, pid {})", rank, host, process); }

std::string member_words(const Member& member, const JobTerms& terms) {
  return fmt::format("{} {} {} {} {} {} {} {}", member.address.text(), member.process, terms.ranks, terms.connections,
                     terms.cables.lines, terms.cables.hash, member.place.text(), member.host);
}

Result<Member> parse_member(std::uint32_t rank, const std::string& text, const JobTerms& ours) {
  std::array<std::string_view, 8> words;
  std::string_view left = text;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::size_t space = left.find(' ');
    if (space == std::string_view::npos) return fail(Code::kMalformed, "rank {} left no address: '{}'", rank, text);
    words[i] = left.substr(0, space);
    left.remove_prefix(space + 1);
  }
  const auto read = [](std::string_view word, auto& number) {
    std::from_chars(word.data(), word.data() + word.size(), number);
  };
  Member member{rank, std::string(left), 0, {}, HostPlace::from(words[6])};
  JobTerms theirs{rank, 0, 0};
  read(words[1], member.process);
  read(words[2], theirs.ranks);
  read(words[3], theirs.connections);
  read(words[4], theirs.cables.lines);
  read(words[5], theirs.cables.hash);
  HOCKET_TRY(check_terms(member, theirs, ours));
  HOCKET_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(std::string(words[0])));
  HOCKET_TRY_ASSIGN(member.address, resolve(endpoint));
  return member;
}

}  // namespace hocket
