// The communication engines that several presets offer, with the figures of their publications: the engine of ACE
// (Rashidi et al., ISCA 2021), copies by DMA engines, and the ideal endpoint that takes nothing from compute.
// Also the two words in which presets state figures: cited() and assumed().
// Ownership: returns values. Threading: pure functions. Refuses: nothing.
#pragma once

#include <string_view>

#include "platform/platform.h"

namespace hocket {

[[nodiscard]] inline Figure cited(double value, std::string_view source) { return {value, std::string(source)}; }
/// A figure that nobody published, as far as we know.
[[nodiscard]] inline Figure assumed(double value) { return {value, {}}; }

/// The collectives engine beside the network interface, reading `memory_bandwidth` of the endpoint's memory at most.
[[nodiscard]] CommunicationEngine ace_engine(const Figure& memory_bandwidth);
/// Communication kernels on `units` compute units.
[[nodiscard]] CommunicationEngine unit_engine(std::string_view name, const Figure& units);
[[nodiscard]] CommunicationEngine dma_engine();
[[nodiscard]] CommunicationEngine ideal_engine();

/// The number of npus after a preset's name: "8". `otherwise` when there is none.
[[nodiscard]] Result<std::uint32_t> parse_npus(std::string_view arguments, std::uint32_t otherwise,
                                               std::string_view grammar);

}  // namespace hocket
