#include "reports/json/parties_json.h"

namespace wicprof::reports {
namespace {

Json figures_value(const WaitFigures& figures) {
  Json value = {{"waits", figures.waits},
                {"waiting_ns", figures.waiting_ns},
                {"p50_ns", figures.p50_ns},
                {"p99_ns", figures.p99_ns},
                {"max_ns", figures.max_ns},
                {"woken", figures.woken},
                {"wake_p50_ns", or_null(figures.wake_p50_ns)},
                {"wake_p99_ns", or_null(figures.wake_p99_ns)},
                {"polls_per_wait", or_null(figures.polls_per_wait())},
                {"longest", nullptr}};
  if (figures.worst) {
    value["longest"] = {{"table", figures.worst->host ? "host_wait" : "wait"},
                        {"id", figures.worst->row},
                        {"begin_ns", figures.worst->begin},
                        {"end_ns", figures.worst->end}};
  }
  return value;
}

Json list_value(const std::vector<WaitParty>& parties) {
  Json list = Json::array();
  for (const WaitParty& party : parties)
    list.push_back({{"name", party.name}, {"figures", figures_value(party.figures)}});
  return list;
}

}  // namespace

void add_parties(const Analysis& analysis, Json& value) {
  value["parties"] = Json::array();
  for (const PartyMatrix& matrix : analysis.parties) {
    Json item = {{"by", party_by_key(matrix.by)},
                 {"waiters", list_value(matrix.waiters)},
                 {"other_waiters", matrix.other_waiters},
                 {"releasers", list_value(matrix.releasers)},
                 {"other_releasers", matrix.other_releasers},
                 {"cells", Json::array()},
                 {"figures", figures_value(matrix.all)}};
    for (const PartyCell& cell : matrix.cells) {
      item["cells"].push_back(
          {{"waiter", cell.waiter}, {"releaser", cell.releaser}, {"figures", figures_value(cell.figures)}});
    }
    value["parties"].push_back(std::move(item));
  }
}

}  // namespace wicprof::reports
