// What a reader asks of each table.
#include <string_view>

#include "store/format/schema.h"
#include "store/read/reader_state.h"
#include "store/read/sort_rows.h"

namespace wicprof::store {

namespace {

// Rows come from the file by id, which is nearly by time already.
template <class RowType>
Result<std::vector<RowType>> by_time(Result<std::vector<RowType>> rows, TimeNs RowType::*time) {
  if (rows) sort_rows(*rows, [time](const RowType& row) { return row.*time; });
  return rows;
}

}  // namespace

Result<std::vector<ProcessRow>> Reader::processes() const {
  return by_time(state_->list<ProcessRow>(
                     "SELECT t.id, t.parent, n.value, c.value, t.rank, t.local_rank, t.seen_ns FROM process t "
                     "LEFT JOIN string n ON n.id = t.name_id LEFT JOIN string c ON c.id = t.command_id ORDER BY t.id",
                     0,
                     [](Row& row, ProcessRow& to) {
                       row >> to.id >> to.parent >> to.name >> to.command >> to.rank >> to.local_rank >> to.seen;
                     }),
                 &ProcessRow::seen);
}

Result<std::vector<DeviceRow>> Reader::devices() const {
  return state_->list<DeviceRow>(
      "SELECT t.id, t.kind, n.value, t.sm_count, t.memory_bytes, t.clock_error_ns, t.compute_major, t.compute_minor, "
      "t.max_threads_per_sm, t.max_blocks_per_sm, t.registers_per_sm, t.shared_bytes_per_sm, "
      "t.reserved_shared_bytes_per_block, t.clock_khz, u.value FROM device t "
      "LEFT JOIN string n ON n.id = t.name_id LEFT JOIN string u ON u.id = t.uuid_id ORDER BY t.id",
      0, [](Row& row, DeviceRow& to) {
        row >> to.id >> to.kind >> to.name >> to.sm_count >> to.memory_bytes >> to.clock_error_ns >> to.compute_major >>
            to.compute_minor >> to.max_threads_per_sm >> to.max_blocks_per_sm >> to.registers_per_sm >>
            to.shared_bytes_per_sm >> to.reserved_shared_bytes_per_block >> to.clock_khz >> to.uuid;
      });
}

Result<std::vector<SiteRow>> Reader::sites() const {
  return state_->list<SiteRow>(
      "SELECT t.id, n.value, t.word_memory, t.pollers, t.words, t.purpose, coalesce(t.releasing, 0), "
      "coalesce(t.waiting, 0) "
      "FROM site t LEFT JOIN string n ON n.id = t.name_id ORDER BY t.id",
      0, [](Row& row, SiteRow& to) {
        row >> to.id >> to.name >> to.word_memory >> to.pollers >> to.words >> to.purpose >> to.releasing >> to.waiting;
      });
}

Result<std::vector<WaitRow>> Reader::waits(RowId after) const {
  return by_time(state_->list<WaitRow>(
                     "SELECT id, site_id, device_id, block, warp, sm, iteration, arrived_ns, resumed_ns, ready_ns, "
                     "polls, strategy_id, status, value, switched_ns, word_tag FROM wait WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, WaitRow& to) {
                       row >> to.id >> to.site >> to.device >> to.block >> to.warp >> to.sm >> to.iteration >>
                           to.arrived >> to.resumed >> to.ready >> to.polls >> to.strategy >> to.status >> to.value >>
                           to.switched >> to.word;
                     }),
                 &WaitRow::arrived);
}

Result<std::vector<SignalRow>> Reader::signals(RowId after) const {
  return by_time(state_->list<SignalRow>(
                     "SELECT id, site_id, device_id, block, warp, sm, iteration, value, at_ns, word_tag, "
                     "coalesce(bytes, 0), coalesce(pieces, 0), coalesce(offset_bytes, 0), coalesce(span_bytes, 0), "
                     "coalesce(regular, 0) FROM signal WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, SignalRow& to) {
                       row >> to.id >> to.site >> to.device >> to.block >> to.warp >> to.sm >> to.iteration >>
                           to.value >> to.at >> to.word >> to.bytes >> to.pieces >> to.offset >> to.span >> to.regular;
                       if (to.device == kHostDevice) to.thread = std::exchange(to.block, 0u);
                     }),
                 &SignalRow::at);
}

Result<std::vector<HostWaitRow>> Reader::host_waits(RowId after) const {
  return by_time(
      state_->list<HostWaitRow>(
          "SELECT id, site_id, call_id, thread, iteration, begin_ns, end_ns, cpu_ns, polls, correlation, status, "
          "word_tag, involuntary_switches, run_delay_ns, process_id FROM host_wait WHERE id > ? ORDER BY id",
          after,
          [](Row& row, HostWaitRow& to) {
            row >> to.id >> to.site >> to.call >> to.thread >> to.iteration >> to.begin >> to.end >> to.cpu >>
                to.polls >> to.correlation >> to.status >> to.word >> to.involuntary_switches >> to.run_delay >>
                to.process;
          }),
      &HostWaitRow::begin);
}

Result<std::vector<KernelRow>> Reader::kernels(RowId after) const {
  return by_time(
      state_->list<KernelRow>(
          "SELECT id, device_id, name_id, start_ns, end_ns, context, stream, correlation, grid_x, grid_y, grid_z, "
          "block_x, block_y, block_z, registers_per_thread, static_shared_bytes, dynamic_shared_bytes, "
          "shared_executed_bytes, local_bytes_per_thread, cluster_x, cluster_y, cluster_z, graph, graph_node, "
          "process_id FROM kernel WHERE id > ? ORDER BY id",
          after,
          [](Row& row, KernelRow& to) {
            row >> to.id >> to.device >> to.name >> to.start >> to.end >> to.context >> to.stream >> to.correlation;
            for (std::uint32_t& size : to.grid) row >> size;
            for (std::uint32_t& size : to.block) row >> size;
            row >> to.registers_per_thread >> to.static_shared_bytes >> to.dynamic_shared_bytes >>
                to.shared_executed_bytes >> to.local_bytes_per_thread;
            for (std::uint32_t& size : to.cluster) row >> size;
            row >> to.graph >> to.graph_node >> to.process;
          }),
      &KernelRow::start);
}

Result<std::vector<CopyRow>> Reader::copies(RowId after) const {
  return by_time(
      state_->list<CopyRow>(
          "SELECT id, device_id, peer_device_id, kind, start_ns, end_ns, bytes, context, stream, correlation, "
          "source_memory, destination_memory, asynchronous, graph, graph_node, process_id "
          "FROM copy WHERE id > ? ORDER BY id",
          after,
          [](Row& row, CopyRow& to) {
            row >> to.id >> to.device >> to.peer_device >> to.kind >> to.start >> to.end >> to.bytes >> to.context >>
                to.stream >> to.correlation >> to.source >> to.destination >> to.asynchronous >> to.graph >>
                to.graph_node >> to.process;
          }),
      &CopyRow::start);
}

Result<std::vector<CallRow>> Reader::calls(RowId after) const {
  return by_time(
      state_->list<CallRow>("SELECT id, name_id, api, thread, correlation, result, start_ns, end_ns, process_id "
                            "FROM call WHERE id > ? ORDER BY id",
                            after,
                            [](Row& row, CallRow& to) {
                              row >> to.id >> to.name >> to.api >> to.thread >> to.correlation >> to.result >>
                                  to.start >> to.end >> to.process;
                            }),
      &CallRow::start);
}

Result<std::vector<SyncRow>> Reader::syncs(RowId after) const {
  return by_time(state_->list<SyncRow>("SELECT id, kind, start_ns, end_ns, context, stream, event, event_sync, "
                                       "correlation, result, process_id FROM sync WHERE id > ? ORDER BY id",
                                       after,
                                       [](Row& row, SyncRow& to) {
                                         row >> to.id >> to.kind >> to.start >> to.end >> to.context >> to.stream >>
                                             to.event >> to.event_sync >> to.correlation >> to.result >> to.process;
                                       }),
                 &SyncRow::start);
}

Result<std::vector<CudaEventRow>> Reader::cuda_events(RowId after) const {
  // The device may not have said when it reached an event: those come first, in the order of their rows.
  Result<std::vector<CudaEventRow>> rows = state_->list<CudaEventRow>(
      "SELECT id, device_id, event, event_sync, at_ns, context, stream, correlation, process_id FROM cuda_event "
      "WHERE id > ? ORDER BY id",
      after, [](Row& row, CudaEventRow& to) {
        row >> to.id >> to.device >> to.event >> to.event_sync >> to.at >> to.context >> to.stream >> to.correlation >>
            to.process;
      });
  if (rows) {
    std::stable_sort(rows->begin(), rows->end(),
                     [](const CudaEventRow& a, const CudaEventRow& b) { return a.at.value_or(0) < b.at.value_or(0); });
  }
  return rows;
}

Result<std::vector<OverheadRow>> Reader::overheads(RowId after) const {
  return by_time(state_->list<OverheadRow>("SELECT id, what_id, thread, correlation, start_ns, end_ns, process_id "
                                           "FROM overhead WHERE id > ? ORDER BY id",
                                           after,
                                           [](Row& row, OverheadRow& to) {
                                             row >> to.id >> to.what >> to.thread >> to.correlation >> to.start >>
                                                 to.end >> to.process;
                                           }),
                 &OverheadRow::start);
}

Result<std::vector<ThreadSampleRow>> Reader::thread_samples(RowId after) const {
  return by_time(state_->list<ThreadSampleRow>(
                     "SELECT id, thread, name_id, begin_ns, end_ns, cpu_ns, run_delay_ns, voluntary_switches, "
                     "involuntary_switches, process_id FROM thread_sample WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, ThreadSampleRow& to) {
                       row >> to.id >> to.thread >> to.name >> to.begin >> to.end >> to.cpu >> to.run_delay >>
                           to.voluntary_switches >> to.involuntary_switches >> to.process;
                     }),
                 &ThreadSampleRow::begin);
}

Result<std::vector<NvtxRow>> Reader::nvtx(RowId after) const {
  return by_time(state_->list<NvtxRow>("SELECT id, kind, name_id, domain_id, thread, start_ns, end_ns, process_id "
                                       "FROM nvtx WHERE id > ? ORDER BY id",
                                       after,
                                       [](Row& row, NvtxRow& to) {
                                         row >> to.id >> to.kind >> to.name >> to.domain >> to.thread >> to.start >>
                                             to.end >> to.process;
                                       }),
                 &NvtxRow::start);
}

Result<std::vector<UvmRow>> Reader::uvm(RowId after) const {
  return by_time(
      state_->list<UvmRow>("SELECT id, kind, device_id, peer_device_id, address, bytes, start_ns, end_ns, count, "
                           "cause_id, process_id FROM uvm WHERE id > ? ORDER BY id",
                           after,
                           [](Row& row, UvmRow& to) {
                             row >> to.id >> to.kind >> to.device >> to.peer_device >> to.address >> to.bytes >>
                                 to.start >> to.end >> to.count >> to.cause >> to.process;
                           }),
      &UvmRow::start);
}

Result<std::vector<InterventionRow>> Reader::interventions() const {
  return by_time(state_->list<InterventionRow>(
                     "SELECT id, site_id, old_mode, new_mode, old_strategy_id, new_strategy_id, requested_ns, "
                     "effective_ns FROM intervention ORDER BY id",
                     0,
                     [](Row& row, InterventionRow& to) {
                       row >> to.id >> to.site >> to.old_mode >> to.new_mode >> to.old_strategy >> to.new_strategy >>
                           to.requested >> to.effective;
                     }),
                 &InterventionRow::effective);
}

Result<std::vector<ChoiceRow>> Reader::choices() const {
  return by_time(state_->list<ChoiceRow>(
                     "SELECT t.id, t.site_id, t.strategy_id, t.at_ns, n.value, t.waits, t.waiters_a_word, t.words, "
                     "t.median_wait_ns, t.look_ns FROM choice t LEFT JOIN string n ON n.id = t.reason_id ORDER BY t.id",
                     0,
                     [](Row& row, ChoiceRow& to) {
                       row >> to.id >> to.site >> to.strategy >> to.at >> to.reason >> to.waits >> to.waiters_a_word >>
                           to.words >> to.median_wait >> to.look;
                     }),
                 &ChoiceRow::at);
}

Result<std::vector<PcTotalRow>> Reader::pc_totals() const {
  return state_->list<PcTotalRow>(
      "SELECT t.process_id, t.device_id, f.value, s.value, t.module, t.pc_offset, r.value, t.samples, n.value, t.line, "
      "t.begin_ns, t.at_ns FROM (SELECT process_id, device_id, function_id, symbol_id, module, pc_offset, "
      "stall_reason_id, sum(samples) AS samples, max(file_id) AS file_id, max(line) AS line, min(begin_ns) AS "
      "begin_ns, "
      "max(at_ns) AS at_ns FROM pc_sample GROUP BY process_id, device_id, symbol_id, function_id, module, pc_offset, "
      "stall_reason_id) t LEFT JOIN string f ON f.id = t.function_id LEFT JOIN string s ON s.id = t.symbol_id "
      "LEFT JOIN string r ON r.id = t.stall_reason_id LEFT JOIN string n ON n.id = t.file_id "
      "ORDER BY t.process_id, t.device_id, t.module, s.value, t.pc_offset, r.value",
      0, [](Row& row, PcTotalRow& to) {
        row >> to.process >> to.device >> to.function >> to.symbol >> to.module >> to.offset >> to.reason >>
            to.samples >> to.file >> to.line >> to.begin >> to.end;
      });
}

Result<std::vector<PcIntervalRow>> Reader::pc_intervals(RowId after) const {
  return by_time(state_->list<PcIntervalRow>(
                     "SELECT id, device_id, begin_ns, end_ns, samples, dropped, foreign_samples, period_cycles "
                     "FROM pc_interval WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, PcIntervalRow& to) {
                       row >> to.id >> to.device >> to.begin >> to.end >> to.samples >> to.dropped >> to.foreign >>
                           to.period_cycles;
                     }),
                 &PcIntervalRow::begin);
}

Result<std::vector<SassRow>> Reader::sass() const {
  return state_->list<SassRow>(
      "SELECT t.module, s.value, t.pc_offset, x.value, t.target_offset, f.value, t.line FROM sass t "
      "LEFT JOIN string s ON s.id = t.symbol_id LEFT JOIN string x ON x.id = t.text_id "
      "LEFT JOIN string f ON f.id = t.file_id ORDER BY t.module, s.value, t.pc_offset",
      0, [](Row& row, SassRow& to) {
        row >> to.module >> to.symbol >> to.offset >> to.text >> to.target >> to.file >> to.line;
      });
}

Result<std::vector<StatRow>> Reader::stats() const {
  return state_->list<StatRow>(
      "SELECT n.value, d.value, t.severity, t.value FROM stat t "
      "LEFT JOIN string n ON n.id = t.name_id LEFT JOIN string d ON d.id = t.detail_id ORDER BY t.id",
      0, [](Row& row, StatRow& to) { row >> to.name >> to.detail >> to.severity >> to.value; });
}

}  // namespace wicprof::store
