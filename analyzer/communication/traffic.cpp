#include "analyzer/communication/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/communication/transfers.h"
#include "analyzer/measure/flat_index.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

constexpr std::uint32_t kNone = Message::kNobody;

/// Numbers from 0 for the distinct values of a list.
template <class T>
class Index {
 public:
  explicit Index(std::vector<T> values) : values_(std::move(values)) {
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  }
  std::uint32_t of(T value) const {
    if (last_ < values_.size() && values_[last_] == value) return last_;
    const auto found = std::lower_bound(values_.begin(), values_.end(), value);
    last_ = static_cast<std::uint32_t>(found - values_.begin());
    return last_;
  }
  std::size_t size() const { return values_.size(); }
  T at(std::size_t i) const { return values_[i]; }

 private:
  std::vector<T> values_;
  mutable std::uint32_t last_ = 0;  // rows of one kind often come one after another
};

template <class T, class... Lists>
Index<T> index_of(const Lists&... lists) {
  FlatIndex numbers;
  std::vector<T> all;
  const auto add = [&](T value) {
    if (numbers.number(static_cast<std::uint32_t>(value)) == all.size()) all.push_back(value);
  };
  (lists(add), ...);
  return Index<T>(std::move(all));
}

/// Joins what belongs together.
class Joined {
 public:
  explicit Joined(std::size_t count) : above_(count) { std::iota(above_.begin(), above_.end(), 0u); }
  std::uint32_t top(std::uint32_t i) {
    while (above_[i] != i) i = above_[i] = above_[above_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) { above_[top(a)] = top(b); }

 private:
  std::vector<std::uint32_t> above_;
};

std::optional<Place> place_of(const store::SignalRow& row) {
  if (row.bytes == 0) return std::nullopt;
  return Place{row.offset, row.span, row.bytes, row.pieces, row.regular || row.pieces == 1};
}

/// Which part of a table's rows is there: rows are numbered as they are recorded, so those in between were removed.
template <class Row>
double share_of_rows(const std::vector<Row>& rows, std::uint64_t& missing) {
  if (rows.size() < 2) return 1;
  const auto [first, last] =
      std::minmax_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  const auto numbers = static_cast<std::uint64_t>(last->id - first->id) + 1;
  if (numbers < rows.size()) return 1;  // the rows do not come from a trace
  missing += numbers - rows.size();
  return static_cast<double>(rows.size()) / static_cast<double>(numbers);
}

/// A wait of either kind, as far as messages need it.
struct Waiting {
  SiteId site = 0;
  DeviceId device = kHostDevice;
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> value;
  std::uint32_t block = kNone;
  std::uint64_t waiter = 0;
  TimeNs arrived = 0, resumed = 0;
  std::optional<WordTag> word;
};

Waiting waiting_of(const store::WaitRow& w) {
  const std::uint64_t waiter = (std::uint64_t{w.block} << 16) | (w.warp & 0xffffu);
  return {w.site, w.device, w.iteration, w.value, w.block, waiter, w.arrived, w.resumed, w.word};
}
Waiting waiting_of(const store::HostWaitRow& w) {
  return {w.site, kHostDevice, w.iteration, std::nullopt, kNone, w.thread, w.begin, w.end, w.word};
}
Waiting waiting_of(const TraceModel& model, const WakeEdge& edge) {
  return edge.host ? waiting_of(model.host_waits[edge.wait]) : waiting_of(model.waits[edge.wait]);
}

/// What a site's records say about it as a whole.
struct SiteFacts {
  std::uint64_t signals = 0, announcing = 0;  ///< announcing: with a payload
  std::uint64_t edges = 0;
  std::uint64_t behind = 0, far_behind = 0;  ///< the waiter was at least one, or two, iterations further
  std::uint64_t at_once = 0;                 ///< the signal had come when the waiter did
  PartyIndex from = kNone, to = kNone;       ///< the first seen
  bool one_way = true;                       ///< all go from `from` to `to`
  bool one_sender = true;
  bool room = false;
  std::uint32_t releasing = 0, waiting = 0;  ///< ends on a device that plays several; 0 = any
};

class Gatherer {
 public:
  Gatherer(const TraceModel& model, const Matching& matching)
      : model_(model), matching_(matching), sites_(all_sites()), devices_(all_devices()), facts_(sites_.size()) {}

  Traffic run() {
    learn_ends();
    name_parties();
    learn_sites();
    find_room();
    add_signals();
    add_unmatched();
    if (traffic_.messages.empty()) keep_those_within();
    find_transfers();
    estimate_losses();
    const auto earlier = [](const Message& a, const Message& b) { return a.at < b.at; };
    if (!std::is_sorted(traffic_.messages.begin(), traffic_.messages.end(), earlier)) {
      std::stable_sort(traffic_.messages.begin(), traffic_.messages.end(), earlier);
    }
    return std::move(traffic_);
  }

 private:
  Index<SiteId> all_sites() const {
    return index_of<SiteId>(
        [&](const auto& add) {
          for (const auto& row : model_.signals) add(row.site);
        },
        [&](const auto& add) {
          for (const auto& row : model_.waits) add(row.site);
        },
        [&](const auto& add) {
          for (const auto& row : model_.host_waits) add(row.site);
        });
  }
  Index<DeviceId> all_devices() const {
    return index_of<DeviceId>([&](const auto& add) { add(kHostDevice); },
                              [&](const auto& add) {
                                for (const auto& row : model_.signals) add(row.device);
                              },
                              [&](const auto& add) {
                                for (const auto& row : model_.waits) add(row.device);
                              });
  }

  // Where channels have both ends on one device, their sites tell whose block it is that signals or waits.
  void learn_ends() {
    std::vector<std::pair<DeviceId, SiteEnd>> ends;
    const auto declared = [&](SiteId id) { return declared_[sites_.of(id)]; };
    declared_.assign(sites_.size(), nullptr);
    for (const store::SiteRow& row : model_.sites) {
      const std::uint32_t i = sites_.of(row.id);
      if (i < sites_.size() && sites_.at(i) == row.id) declared_[i] = &row;
    }
    const bool any = std::any_of(model_.sites.begin(), model_.sites.end(),
                                 [](const auto& row) { return row.releasing != 0 || row.waiting != 0; });
    if (!any) return;
    const auto add = [&](DeviceId device, SiteEnd end) {
      if (device == kHostDevice || end == 0) return;
      if (ends.empty() || ends.back() != std::pair(device, end)) ends.emplace_back(device, end);
    };
    for (const auto& row : model_.signals) {
      if (const auto* site = declared(row.site)) add(row.device, site->releasing);
    }
    for (const auto& row : model_.waits) {
      if (const auto* site = declared(row.site)) add(row.device, site->waiting);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (std::size_t i = 1; i < ends.size(); ++i) shared_device_ = shared_device_ || ends[i].first == ends[i - 1].first;
    if (!shared_device_) return;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (declared_[i] == nullptr) continue;
      facts_[i].releasing = declared_[i]->releasing;
      facts_[i].waiting = declared_[i]->waiting;
      most = std::max({most, facts_[i].releasing, facts_[i].waiting});
    }
    ends_ = most + 1;
  }

  // Parties are devices where devices talk to each other. On one device they are blocks that signal at the same sites
  // or wait at the same sites.
  void name_parties() {
    const bool across = std::any_of(matching_.edges.begin(), matching_.edges.end(), [&](const WakeEdge& edge) {
      return edge.host != (model_.signals[edge.signal].device == kHostDevice) ||
             (!edge.host && model_.signals[edge.signal].device != model_.waits[edge.wait].device);
    });
    traffic_.one_device = !across && !shared_device_;
    if (!traffic_.one_device) {
      for (std::size_t i = 0; i < devices_.size(); ++i) {
        for (std::uint32_t end = 0; end < ends_; ++end)
          traffic_.parties.push_back({devices_.at(i), party_name(i, end), end});
      }
      return;
    }
    using Doing = std::pair<std::uint64_t, std::uint32_t>;  // device and block, what it does where
    std::vector<Doing> doings;
    const auto add = [&](std::uint32_t device, std::uint32_t block, std::uint32_t node) {
      const Doing doing{(std::uint64_t{device} << 32) | block, node};
      if (doings.empty() || doings.back() != doing) doings.push_back(doing);
    };
    for (const auto& row : model_.signals) add(devices_.of(row.device), row.block, node(row.device, row.site, false));
    for (const auto& row : model_.waits) add(devices_.of(row.device), row.block, node(row.device, row.site, true));
    for (const auto& row : model_.host_waits) {
      if (row.site != 0) add(devices_.of(kHostDevice), row.thread, node(kHostDevice, row.site, true));
    }
    std::sort(doings.begin(), doings.end());
    doings.erase(std::unique(doings.begin(), doings.end()), doings.end());
    Joined joined(devices_.size() * sites_.size() * 2);
    for (std::size_t i = 1; i < doings.size(); ++i) {
      if (doings[i].first == doings[i - 1].first) joined.join(doings[i].second, doings[i - 1].second);
    }
    role_of_.assign(devices_.size() * sites_.size() * 2, kNone);
    std::vector<PartyIndex> party_of_top(role_of_.size(), kNone);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks;  // of each party: how many, the first
    for (std::size_t i = 0; i < doings.size(); ++i) {
      const std::uint32_t top = joined.top(doings[i].second);
      if (party_of_top[top] == kNone) {
        party_of_top[top] = static_cast<PartyIndex>(blocks.size());
        blocks.emplace_back(0, static_cast<std::uint32_t>(doings[i].first));
        traffic_.parties.push_back({devices_.at(doings[i].first >> 32), {}});
      }
      role_of_[doings[i].second] = party_of_top[top];
      if (i == 0 || doings[i].first != doings[i - 1].first) ++blocks[party_of_top[top]].first;
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::string device = model_.device_name(traffic_.parties[i].device);
      traffic_.parties[i].name = blocks[i].first == 1
                                     ? fmt::format("block {} of {}", blocks[i].second, device)
                                     : fmt::format("{} of {}", count_of(blocks[i].first, "block"), device);
    }
  }

  std::uint32_t node(DeviceId device, SiteId site, bool waits) const {
    return static_cast<std::uint32_t>((devices_.of(device) * sites_.size() + sites_.of(site)) * 2 + (waits ? 1 : 0));
  }
  /// By name, and by what options call it where several have one name.
  std::string party_name(std::size_t device, std::uint32_t end) const {
    const DeviceId id = devices_.at(device);
    std::string name = model_.device_name(id);
    const auto alike =
        std::count_if(model_.devices.begin(), model_.devices.end(), [&](const auto& d) { return d.name == name; });
    if (alike > 1) name = fmt::format("{} ({})", model_.device_key(id), name);
    return end < kFirstDeviceEnd ? name : fmt::format("part {} of {}", end - kFirstDeviceEnd, name);
  }
  PartyIndex party(DeviceId device, SiteId site, bool waits) const {
    if (traffic_.one_device) return role_of_[node(device, site, waits)];
    const SiteFacts& facts = facts_[sites_.of(site)];
    const std::uint32_t end = device == kHostDevice ? 0 : waits ? facts.waiting : facts.releasing;
    return devices_.of(device) * ends_ + end;
  }
  PartyIndex sender_of(const store::SignalRow& signal) const { return party(signal.device, signal.site, false); }
  PartyIndex receiver_of(const Waiting& wait) const { return party(wait.device, wait.site, true); }
  PartyIndex receiver_of(const WakeEdge& edge) const {
    if (edge.host) return party(kHostDevice, model_.host_waits[edge.wait].site, true);
    return party(model_.waits[edge.wait].device, model_.waits[edge.wait].site, true);
  }

  SiteFacts& facts(SiteId site) { return facts_[sites_.of(site)]; }

  void learn_sites() {
    for (const store::SignalRow& signal : model_.signals) {
      SiteFacts& site = facts(signal.site);
      ++site.signals;
      if (signal.bytes > 0) ++site.announcing;
      const PartyIndex from = sender_of(signal);
      if (site.from == kNone) site.from = from;
      if (site.from != from) site.one_sender = site.one_way = false;
    }
    for (const WakeEdge& edge : matching_.edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      const Waiting wait = waiting_of(model_, edge);
      SiteFacts& site = facts(signal.site);
      ++site.edges;
      if (wait.iteration > signal.iteration) ++site.behind;
      if (wait.iteration > signal.iteration + 1) ++site.far_behind;
      if (signal.at <= wait.arrived) ++site.at_once;
      const PartyIndex to = receiver_of(wait);
      if (site.to == kNone) site.to = to;
      if (site.to != to) site.one_way = false;
    }
    for (const SiteFacts& site : facts_) announcing_ += site.announcing;
  }

  // An acknowledgement lets its producer go on to a message some iterations later, goes against a site's messages, and
  // hardly ever keeps anybody waiting. One iteration later it might as well be an answer.
  void find_room() {
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      SiteFacts& site = facts_[i];
      const SitePurpose purpose = declared_[i] == nullptr ? SitePurpose::unknown : declared_[i]->purpose;
      if (purpose == SitePurpose::acknowledgement) site.room = true;
      if (purpose != SitePurpose::unknown) continue;
      if (!site.one_way || site.announcing > 0 || site.edges == 0 || site.to == kNone) continue;
      if (10 * site.behind < 9 * site.edges || 10 * site.at_once < 8 * site.edges) continue;
      const bool against = std::any_of(facts_.begin(), facts_.end(), [&](const SiteFacts& data) {
        return data.one_way && data.from == site.to && data.to == site.from && data.edges > 0 &&
               10 * data.behind < data.edges;
      });
      if (!against) continue;
      site.room = 10 * site.far_behind >= 9 * site.edges;
      if (!site.room && announcing_ == 0) traffic_.doubtful = true;
    }
    for (const SiteFacts& site : facts_) traffic_.left_out.room_sites += site.room ? 1 : 0;
  }

  // In a program that says what its messages carry, signals that carry nothing only steer.
  bool carries(const SiteFacts& site) const { return announcing_ == 0 || site.announcing > 0; }

  Message message_of(std::size_t index) {
    const store::SignalRow& signal = model_.signals[index];
    Message message;
    message.from = sender_of(signal);
    message.to = kNone;
    message.site = signal.site;
    message.iteration = signal.iteration;
    message.at = signal.at;
    if (signal.device != kHostDevice) message.sender = signal.block;
    if (const std::optional<Place> place = place_of(signal)) message.place = traffic_.add_place(*place);
    return message;
  }

  void add_signals() {
    traffic_.messages.reserve(model_.signals.size());
    origins_.reserve(model_.signals.size());
    // The receivers of each signal: the first party in an array, others, which are rare, in a list.
    struct Other {
      std::size_t signal;
      PartyIndex to;
      TimeNs received;
      std::uint32_t block;
    };
    std::vector<PartyIndex> to(model_.signals.size(), kNone);
    std::vector<TimeNs> received(model_.signals.size(), std::numeric_limits<TimeNs>::max());
    std::vector<std::uint32_t> block(model_.signals.size(), kNone);
    std::vector<Other> others;
    for (const WakeEdge& edge : matching_.edges) {
      const Waiting wait = waiting_of(model_, edge);
      const PartyIndex party = receiver_of(wait);
      const std::size_t i = edge.signal;
      if (to[i] == kNone) to[i] = party;
      if (to[i] != party) {
        others.push_back({i, party, wait.resumed, wait.block});
      } else if (wait.resumed < received[i]) {
        received[i] = wait.resumed;
        block[i] = wait.block;
      }
    }
    std::sort(others.begin(), others.end(), [](const Other& a, const Other& b) {
      return std::tie(a.signal, a.to, a.received) < std::tie(b.signal, b.to, b.received);
    });

    for (std::size_t i = 0; i < model_.signals.size(); ++i) {
      const SiteFacts& site = facts(model_.signals[i].site);
      if (site.room) {
        ++traffic_.left_out.room;
        continue;
      }
      if (announcing_ > 0 && model_.signals[i].bytes == 0) {
        ++traffic_.left_out.bare;
        continue;
      }
      Message message = message_of(i);
      const bool heard = to[i] != kNone;
      message.to = heard ? to[i] : site.one_way ? site.to : kNone;
      if (message.to == kNone) {
        ++traffic_.left_out.unheard;
        continue;
      }
      if (heard) {
        message.received = received[i];
        message.receiver = block[i];
      }
      add(message, {static_cast<std::uint32_t>(i), model_.signals[i].value});
    }
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (k > 0 && others[k].signal == others[k - 1].signal && others[k].to == others[k - 1].to) continue;
      const store::SignalRow& signal = model_.signals[others[k].signal];
      if (facts(signal.site).room || (announcing_ > 0 && signal.bytes == 0)) continue;
      Message message = message_of(others[k].signal);
      message.to = others[k].to;
      message.received = others[k].received;
      message.receiver = others[k].block;
      add(message, {static_cast<std::uint32_t>(others[k].signal), signal.value});
    }
  }

  void add(const Message& message, const Origin& origin) {
    const bool within = message.from == message.to;
    if (within) ++traffic_.left_out.within;
    (within ? within_ : traffic_.messages).push_back(message);
    (within ? within_origins_ : origins_).push_back(origin);
  }

  // Nobody talks to another party: then the blocks are the parties, where they are known.
  void keep_those_within() {
    for (std::size_t i = 0; i < within_.size(); ++i) {
      const Message& m = within_[i];
      if (m.sender == kNone || m.receiver == kNone || m.sender == m.receiver) continue;
      traffic_.messages.push_back(m);
      origins_.push_back(within_origins_[i]);
    }
    traffic_.left_out.within -= traffic_.messages.size();
  }

  // Waits whose signal is missing, at sites that have one sender: many waiters of one word are one message.
  void add_unmatched() {
    std::vector<bool> matched(model_.waits.size()), host_matched(model_.host_waits.size());
    for (const WakeEdge& edge : matching_.edges) (edge.host ? host_matched : matched)[edge.wait] = true;
    std::vector<Waiting> missing;
    std::uint64_t known = 0;
    const auto look = [&](const auto& row, bool has_signal) {
      if (row.site == 0 || row.status != WaitStatus::satisfied) return;
      const SiteFacts& site = facts(row.site);
      if (site.room || site.signals == 0 || !carries(site)) return;
      if (has_signal) ++known;
      if (has_signal) return;
      if (site.edges > 0) {
        missing.push_back(waiting_of(row));
      } else if (announcing_ == 0) {
        traffic_.doubtful = true;  // its numbers do not go with those of its signals
      }
    };
    for (std::size_t i = 0; i < model_.waits.size(); ++i) look(model_.waits[i], matched[i]);
    for (std::size_t i = 0; i < model_.host_waits.size(); ++i) look(model_.host_waits[i], host_matched[i]);
    traffic_.unmatched = missing.size();
    if (known + missing.size() > 0) {
      signals_there_ = static_cast<double>(known) / static_cast<double>(known + missing.size());
    }
    const auto key = [](const Waiting& w) {
      return std::tuple(w.site, w.device, w.iteration, w.value.value_or(0), w.word.value_or(0));
    };
    std::sort(missing.begin(), missing.end(), [&](const Waiting& a, const Waiting& b) {
      return std::tuple_cat(key(a), std::tuple(a.resumed)) < std::tuple_cat(key(b), std::tuple(b.resumed));
    });
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const Waiting& wait = missing[i];
      const SiteFacts& site = facts(wait.site);
      // The same word and number again is another message only when the first had been there for good.
      if (i > 0 && key(missing[i - 1]) == key(wait) && wait.arrived <= missing[i - 1].resumed) continue;
      if (!site.one_sender) continue;
      Message message;
      message.from = site.from;
      message.to = receiver_of(wait);
      message.site = wait.site;
      message.iteration = wait.iteration;
      message.at = wait.resumed;
      message.received = wait.resumed;
      message.receiver = wait.block;
      add(message, {Origin::kNone, wait.value});
    }
  }

  // Where messages do not say what they carry, several may be parts of one transfer.
  void find_transfers() {
    if (announcing_ > 0) return;
    traffic_.messages = merge_parts(model_, matching_, traffic_.messages, std::move(origins_),
                                    [&](const WakeEdge& edge) { return receiver_of(edge); });
  }

  void estimate_losses() {
    for (const store::StatRow& stat : model_.stats) {
      if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0)
        traffic_.lost += static_cast<std::uint64_t>(stat.value);
    }
    const auto kept = static_cast<double>(model_.waits.size() + model_.signals.size() + model_.host_waits.size());
    const double recorded = traffic_.there.recorded =
        traffic_.lost == 0 ? 1 : kept / (kept + static_cast<double>(traffic_.lost));
    std::uint64_t missing = 0;
    const double signals = share_of_rows(model_.signals, missing);
    const double waits = std::min(share_of_rows(model_.waits, missing), share_of_rows(model_.host_waits, missing));
    traffic_.missing = missing;
    const double signal_share = std::min({signals_there_, signals, recorded});
    const double wait_share = std::min({signals_there_, waits, recorded});
    traffic_.there.seen = signal_share > 0.995 ? 1 : 1 - (1 - signal_share) * (1 - wait_share);
    traffic_.there.least = signal_share > 0.995 ? 1 : signal_share;
  }

  const TraceModel& model_;
  const Matching& matching_;
  const Index<SiteId> sites_;
  const Index<DeviceId> devices_;
  std::vector<SiteFacts> facts_;
  std::vector<const store::SiteRow*> declared_;
  bool shared_device_ = false;  // some device plays several ends
  std::uint32_t ends_ = 1;
  std::vector<PartyIndex> role_of_;
  std::uint64_t announcing_ = 0;
  double signals_there_ = 1;     // the part of the waits whose signal is recorded
  std::vector<Origin> origins_;  // of the messages
  std::vector<Message> within_;  // a party's to itself
  std::vector<Origin> within_origins_;
  Traffic traffic_;
};

}  // namespace

Traffic gather_traffic(const TraceModel& model, const Matching& matching) { return Gatherer(model, matching).run(); }

}  // namespace wicprof::analyzer
