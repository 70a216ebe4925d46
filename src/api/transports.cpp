#include "api/transports.h"

#include <array>

#include "transport/tcp/tcp_rank.h"

namespace hocket {
namespace {

using Open = Result<std::unique_ptr<RankTransport>> (*)(std::uint32_t, std::vector<std::string>,
                                                        std::vector<Descriptor>);
struct Choice {
  std::string_view name;
  Open open;
};

template <class T>
Result<std::unique_ptr<RankTransport>> open_as(std::uint32_t rank, std::vector<std::string> names,
                                               std::vector<Descriptor> links) {
  return T::make(rank, std::move(names), std::move(links));
}

constexpr std::array kChoices{
    Choice{"tcp", open_as<TcpRank>},
};

Result<Open> choice_named(std::string_view name) {
  std::string known;
  for (const Choice& choice : kChoices) {
    if (choice.name == name) return choice.open;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
  }
  return fail(Code::kInvalidArgument, "unknown transport '{}'; known: {}", name, known);
}

}  // namespace

Result<std::unique_ptr<RankTransport>> open_transport(std::string_view name, std::uint32_t rank,
                                                      std::vector<std::string> names, std::vector<Descriptor> links) {
  HOCKET_TRY_ASSIGN(const Open open, choice_named(name));
  return open(rank, std::move(names), std::move(links));
}

Result<void> check_transport(std::string_view name) {
  HOCKET_TRY(choice_named(name));
  return {};
}

}  // namespace hocket
