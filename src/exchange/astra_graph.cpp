// The training loops of ASTRA-sim 1.0, one per policy, as a program that all ranks run.
//   DATA               forward; per layer backward: weight gradient, its collective beside the rest, input gradient
//   MODEL, HYBRID_*    forward with a collective that the next layer waits for; per layer backward: input gradient, its
//                      collective beside the weight gradient, the collective of the weights beside the rest
//   HYBRID_TRANSFORMER the same, but the weight gradient waits for the collective of the input gradient
//   ..._FWD_IN_BCKWD   and forward runs again from the last checkpoint where a layer asks for it
//   HYBRID_DLRM        all-to-all of embeddings beside the bottom layers, awaited after the last of them; and back
// Every policy: the forward of a layer waits for the weights' collective of the step before.
#include <algorithm>
#include <set>

#include "exchange/astra_groups.h"

namespace hocket {
namespace {

constexpr std::size_t kForward = 0;
constexpr std::size_t kInput = 1;
constexpr std::size_t kWeights = 2;
constexpr std::array kPhases{StepPhase::kForward, StepPhase::kInputGradient, StepPhase::kWeightGradient};

class AstraProgram {
 public:
  AstraProgram(const AstraWorkload& workload, std::string_view file_name, const RankLayout& layout)
      : workload_(workload), file_name_(file_name), groups_(workload, file_name, layout), layout_(layout) {}

  Result<ImportedGraph> build() {
    if (workload_.rows.empty()) return fail(Code::kMalformed, "{}: no rows", file_name_);
    HOCKET_TRY(groups_.check());
    HOCKET_TRY(run_policy());
    if (tasks_.empty())
      return fail(Code::kMalformed, "{}: nothing to do under policy {}", file_name_, workload_.policy);
    tie_steps();
    ImportedGraph imported;
    imported.losses = workload_.losses;
    note_losses(imported);
    TaskGraph& graph = imported.graph;
    graph.name = std::string(file_name_);
    graph.source = fmt::format("text workload, policy {}", workload_.policy);
    graph.divisions = groups_.take_divisions();
    graph.programs = {{std::string(file_name_), std::move(tasks_)}};
    graph.program_of.assign(layout_.ranks, 0);
    return imported;
  }

 private:
  [[nodiscard]] std::size_t count() const { return workload_.rows.size(); }

  Result<void> run_policy() {
    const std::string& policy = workload_.policy;
    if (policy == "MICRO") return send_micro();
    if (policy.starts_with("HYBRID_DLRM")) return run_dlrm();
    const bool sends_forward = policy != "DATA";
    for (std::size_t i = 0; i < count(); ++i) HOCKET_TRY(forward(i, sends_forward));
    if (policy == "DISTRIBUTED_INFERENCE") return {};
    for (std::size_t i = count(); i-- > 0;) {
      if (policy == "DATA") {
        HOCKET_TRY(backward_data(i));
      } else if (policy.starts_with("HYBRID_TRANSFORMER")) {
        HOCKET_TRY(backward_transformer(i));
      } else {
        HOCKET_TRY(backward_model(i));
      }
    }
    return {};
  }

  Result<void> send_micro() {
    HOCKET_TRY_ASSIGN(const std::optional<NodeId> sent, send(0, kWeights));
    if (sent) front_ = {*sent};
    unused_rows_ = count() - 1;
    return {};
  }

  Result<void> forward(std::size_t i, bool sends) {
    compute(i, kForward);
    if (!sends) return {};
    HOCKET_TRY_ASSIGN(const std::optional<NodeId> sent, send(i, kForward));
    if (sent) front_ = {*sent};
    return {};
  }

  Result<void> backward_data(std::size_t i) {
    compute(i, kWeights);
    HOCKET_TRY(send_weights(i));
    if (i > 0) compute(i, kInput);
    return {};
  }

  Result<void> backward_model(std::size_t i) {
    compute(i, kInput);
    std::optional<NodeId> sent;
    if (i > 0) {
      HOCKET_TRY_ASSIGN(sent, send(i, kInput));
    }
    compute(i, kWeights);
    HOCKET_TRY(send_weights(i));
    if (sent) front_.push_back(*sent);
    return {};
  }

  Result<void> backward_transformer(std::size_t i) {
    HOCKET_TRY(forward_again(i));
    compute(i, kInput);
    HOCKET_TRY_ASSIGN(const std::optional<NodeId> sent, send(i, kInput));
    if (sent) front_ = {*sent};
    compute(i, kWeights);
    return send_weights(i);
  }

  /// From the nearest checkpoint below the layer up to the layer before it.
  Result<void> forward_again(std::size_t i) {
    const auto has = [](const std::vector<std::uint64_t>& list, std::size_t layer) {
      return std::find(list.begin(), list.end(), layer) != list.end();
    };
    if (workload_.policy != "HYBRID_TRANSFORMER_FWD_IN_BCKWD" || !has(workload_.checkpoint_initiates, i)) return {};
    std::size_t from = i;
    while (from > 0 && !has(workload_.checkpoints, from)) --from;
    if (!has(workload_.checkpoints, from))
      return fail(Code::kMalformed, "{}:1: layer {} in checkpoint_initiates has no checkpoint below it", file_name_, i);
    for (std::size_t layer = from; layer < i; ++layer) HOCKET_TRY(forward(layer, true));
    return {};
  }

  Result<void> run_dlrm() {
    const auto key = workload_.keys.find("DLRM_LAST_BOTTOM_LAYER");
    if (key == workload_.keys.end())
      return fail(Code::kMalformed, "{}:1: policy {} needs key 'DLRM_LAST_BOTTOM_LAYER'", file_name_, workload_.policy);
    if (key->second >= count()) {
      return fail(Code::kMalformed, "{}:1: DLRM_LAST_BOTTOM_LAYER {}, there are {} rows", file_name_, key->second,
                  count());
    }
    const std::size_t last_bottom = key->second;
    std::optional<NodeId> embeddings, back;
    for (std::size_t i = 0; i < count(); ++i) {
      compute(i, kForward);
      const auto& collective = workload_.rows[i].passes[kForward].collective;
      if (collective && collective->kind == CollectiveKind::kAllToAll) {
        HOCKET_TRY_ASSIGN(const std::optional<NodeId> sent, send(i, kForward));
        if (i == 0) embeddings = sent;
      }
      if (i == last_bottom && embeddings) front_.push_back(*embeddings);
    }
    for (std::size_t i = count(); i-- > 0;) {
      compute(i, kWeights);
      HOCKET_TRY(send_weights(i));
      if (i > 0) compute(i, kInput);
      if (i == last_bottom + 1) {
        HOCKET_TRY_ASSIGN(back, send(0, kInput));
      }
    }
    if (back) front_.push_back(*back);
    return {};
  }

  NodeId add(Task task) {
    task.after = front_;
    tasks_.push_back(std::move(task));
    return static_cast<NodeId>(tasks_.size() - 1);
  }

  [[nodiscard]] Task task_of(const AstraRow& row, std::size_t pass) const {
    return {.name = fmt::format("{} {}", row.name, name_of(kPhases[pass])),
            .place = fmt::format("line {}", row.line),
            .phase = kPhases[pass]};
  }

  void compute(std::size_t i, std::size_t pass) {
    const AstraRow& row = workload_.rows[i];
    if (row.passes[pass].time_ns == 0) return;
    Task task = task_of(row, pass);
    task.compute.stated = Seconds{static_cast<double>(row.passes[pass].time_ns) * 1e-9};
    const NodeId id = add(std::move(task));
    if (pass == kForward) first_forward_.try_emplace(i, id);
    front_ = {id};
  }

  /// A collective that begins when what runs now has ended; nothing when there is none to send.
  Result<std::optional<NodeId>> send(std::size_t i, std::size_t pass) {
    const AstraRow& row = workload_.rows[i];
    const auto& collective = row.passes[pass].collective;
    if (!collective) return std::optional<NodeId>();
    const bool own = workload_.policy == "HYBRID_CUSTOMIZED";
    if (own && row.policy.empty())
      return fail(Code::kMalformed, "{}:{}: no 13th field, the policy of the row", file_name_, row.line);
    HOCKET_TRY_ASSIGN(const std::optional<std::uint32_t> division,
                      groups_.division(row, pass, own ? row.policy : workload_.policy));
    if (collective->bytes > INT64_MAX)
      return fail(Code::kMalformed, "{}:{}: a collective of {} bytes", file_name_, row.line, collective->bytes);
    const bool is_new = sent_.insert({row.line, pass}).second;
    if (!division || collective->bytes == 0 || groups_.group_size(*division) == 1) {
      if (is_new) ++(!division ? outside_policy_ : collective->bytes == 0 ? empty_ : alone_);
      return std::optional<NodeId>();
    }
    Task task = task_of(row, pass);
    const auto bytes = static_cast<std::int64_t>(collective->bytes);
    task.collective =
        TaskCollective{{collective->kind, {bytes}, bytes % 2 == 0 ? DataType::kF16 : DataType::kU8}, *division};
    gathers_ += is_new && collective->kind == CollectiveKind::kAllGather ? 1 : 0;
    kept_ += is_new ? 1 : 0;
    const NodeId id = add(std::move(task));
    if (pass == kForward) first_forward_.try_emplace(i, id);
    return std::optional(id);
  }

  Result<void> send_weights(std::size_t i) {
    HOCKET_TRY_ASSIGN(const std::optional<NodeId> sent, send(i, kWeights));
    if (sent) weights_sent_[i] = *sent;
    return {};
  }

  /// The next step begins when this one's stream has ended; a layer's forward waits for its weights.
  void tie_steps() {
    for (Task& task : tasks_) {
      if (task.after.empty()) task.after_previous = front_;
    }
    for (const auto& [layer, sent] : weights_sent_) {
      const auto forward = first_forward_.find(layer);
      tasks_[forward == first_forward_.end() ? 0 : forward->second].after_previous.push_back(sent);
    }
  }

  void note_losses(ImportedGraph& imported) {
    std::size_t stated = 0, updates = 0, dependencies = 0;
    for (const AstraRow& row : workload_.rows) {
      for (const AstraPass& pass : row.passes) stated += pass.collective ? 1 : 0;
      updates += row.update_time > 0 ? 1 : 0;
      dependencies += row.dependency != "-1" ? 1 : 0;
    }
    imported.counts = {fmt::format("rows: {} read, {} kept", count(), count() - unused_rows_),
                       fmt::format("collectives: {} read, {} kept", stated, kept_)};
    LossReport& losses = imported.losses;
    const auto drop = [&](std::size_t n, std::string_view why) {
      if (n > 0) losses.ignored("", fmt::format("{} collective(s)", n), std::string(why));
    };
    const std::size_t never = stated - sent_.size();
    drop(empty_, "of 0 bytes");
    drop(alone_, "in a group of one rank");
    drop(outside_policy_ + never, fmt::format("policy {} does not send them in that pass", workload_.policy));
    if (unused_rows_ > 0) losses.ignored("", fmt::format("{} row(s)", unused_rows_), "MICRO sends the first row's");
    if (updates > 0)
      losses.ignored("field 12", fmt::format("update times of {} row(s)", updates), "the file does not say per what");
    if (dependencies > 0)
      losses.ignored("field 2", fmt::format("dependencies of {} row(s)", dependencies), "the policy orders the rows");
    const auto stages = workload_.keys.find("pp");
    if (stages != workload_.keys.end() && stages->second > 1) {
      losses.ignored("line 1", fmt::format("pp {}", stages->second),
                     "rows are one stage's work; messages between stages and their bubble are not simulated");
    }
    losses.assumed("", "times in ns, sizes in B", "the file has no units");
    if (gathers_ > 0)
      losses.assumed("", fmt::format("the size of {} ALLGATHER as what a rank ends with", gathers_),
                     "SimAI's meaning; ASTRA-sim's ring takes it as what a rank begins with");
    if (workload_.policy.starts_with("HYBRID_TRANSFORMER"))
      losses.assumed("", "tensor-parallel ranks are neighbours, then experts, data, stages",
                     "the file names sizes only");
  }

  const AstraWorkload& workload_;
  std::string_view file_name_;
  AstraGroups groups_;
  const RankLayout& layout_;
  std::vector<Task> tasks_;
  std::vector<NodeId> front_;  // what the next task waits for
  std::map<std::size_t, NodeId> first_forward_, weights_sent_;
  std::set<std::pair<std::size_t, std::size_t>> sent_;  // line and pass of collectives that were looked at
  std::size_t unused_rows_ = 0, kept_ = 0, empty_ = 0, alone_ = 0, outside_policy_ = 0, gathers_ = 0;
};

}  // namespace

Result<ImportedGraph> graph_of(const AstraWorkload& workload, std::string_view file_name, const RankLayout& layout) {
  return AstraProgram(workload, file_name, layout).build();
}

}  // namespace hocket
