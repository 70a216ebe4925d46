#include "parallel_flags.h"

namespace hocket {

void ParallelFlags::declare(CLI::App& app) {
  const auto number = [&app](const char* name, std::optional<std::uint32_t>& into, const char* what) {
    app.add_option(name, into, what)->check(CLI::Range(1U, 1U << 20));
  };
  number("--tp", tensor, "platform: ranks that share every matrix (tensor parallelism) [1]");
  number("--pp", pipeline, "platform: stages of a pipeline, 1F1B [1]");
  number("--ep", expert, "platform: copies of the model that share the experts [1]");
  number("--microbatches", microbatches, "platform: parts of a batch that pass the pipeline one by one [--pp]");
  app.add_flag("--fsdp", shards_weights, "platform: copies share weights, gradients and optimizer (ZeRO-3)");
  app.add_flag("--sp", splits_sequence, "platform: --tp cuts the sequence too, between the matrices")
      ->needs(app.get_option("--tp"));
}

std::string_view ParallelFlags::given() const {
  if (tensor) return "--tp";
  if (pipeline) return "--pp";
  if (expert) return "--ep";
  if (microbatches) return "--microbatches";
  if (shards_weights) return "--fsdp";
  return splits_sequence ? "--sp" : "";
}

ParallelPlan ParallelFlags::asked() const {
  return {.tensor = tensor.value_or(1),
          .pipeline = pipeline.value_or(1),
          .expert = expert.value_or(1),
          .microbatches = microbatches.value_or(0),
          .shards_weights = shards_weights,
          .splits_sequence = splits_sequence};
}

Result<void> ParallelFlags::check() const {
  if (!splits_sequence || tensor.value_or(1) > 1) return {};
  return fail(Code::kInvalidArgument, "--sp: cuts the sequence among the ranks of --tp, and --tp {} has one",
              tensor.value_or(1));
}

}  // namespace hocket
