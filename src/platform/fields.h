// The figures of a platform as a record: key, unit, where it is kept, whether it must be there. Reader, writer, tables
// and the list of what has no source all walk these, so that a new figure is one line here.
// Ownership: constant tables. Threading: constants. Refuses: nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/platform.h"

namespace hocket {

template <class Owner>
struct FigureField {
  std::string_view key;
  FigureUnit unit;
  MaybeFigure Owner::*member;
  bool required = false;
  std::optional<EngineKind> only = std::nullopt;  // of engines: the one kind that has it
};

[[nodiscard]] std::span<const FigureField<EndpointModel>> endpoint_fields();
[[nodiscard]] std::span<const FigureField<CommunicationEngine>> engine_fields();
[[nodiscard]] std::span<const FigureField<PowerModel>> power_fields();

/// A figure of a platform with its full name: "endpoint.memory_bandwidth", "engines.ace.sram".
struct NamedFigure {
  std::string name;
  FigureUnit unit = FigureUnit::kCount;
  Figure figure;
};

/// Every figure that is there, in the order in which a file has them.
[[nodiscard]] std::vector<NamedFigure> figures_of(const Platform& platform);

}  // namespace hocket
