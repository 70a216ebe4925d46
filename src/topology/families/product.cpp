// product:ring4xswitch2... : npus on a grid whose lines are rings, fully connected or around switches, one shape per
// dimension. The networks of ASTRA-sim in words.
#include "topology/product.h"

namespace hocket {
namespace {

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(std::vector<ProductDimension> dimensions, parse_product(request.arguments, request.spec));
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    dimensions[i].link = request.links[std::min(i, request.links.size() - 1)];
  TopologyBuilder builder{std::string(request.spec), "product"};
  HOCKET_TRY(add_product(builder, dimensions, fmt::format("topology '{}'", request.spec)));
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_product{
    .name = "product",
    .grammar = "product:SHAPExSHAPE...",
    .description = "npus on a grid, each dimension of ringN, fullN or switchN; a ring of 2 is one cable",
    .example = "product:ring4xswitch2",
    .build = build,
};

}  // namespace hocket
