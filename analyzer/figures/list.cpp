#include "analyzer/figures/list.h"

#include <array>

namespace wicprof::analyzer {
namespace {

constexpr std::array kFigures{
    FigureInfo{2, "Share of the run time spent in communication", figure<2>},
    FigureInfo{4, "How long consumers come before their data", figure<4>},
    FigureInfo{5, "Polling's share of communication, and checks per communication", figure<5>},
    FigureInfo{6, "Waiters that have not arrived yet, against the progress of polling", figure<6>},
    FigureInfo{7, "Independent blocks that are not done yet, against the progress of polling", figure<7>},
    FigureInfo{12, "Speed-up of parking over polling, and the share of communication", figure<12>},
    FigureInfo{13, "Waiters that still lack their data", figure<13>},
    FigureInfo{14, "Waiting that overlaps with computation", figure<14>},
    FigureInfo{15, "The cost of wic and wic-prof themselves", figure<15>},
    FigureInfo{16, "Speed-up of parking over polling, against the number of threads", figure<16>},
    FigureInfo{17, "Speed-up over Algorithm 1 of waiting and of moving messages in other ways", figure<17>},
};

}  // namespace

std::span<const FigureInfo> figures() { return kFigures; }

const FigureInfo* figure_by_number(int number) {
  for (const FigureInfo& info : kFigures) {
    if (info.number == number) return &info;
  }
  return nullptr;
}

Figure make_figure(int number, const FigureInput& input) {
  const FigureInfo* info = figure_by_number(number);
  Figure figure = info->make(input);
  figure.number = number;
  figure.title = info->title;
  return figure;
}

}  // namespace wicprof::analyzer
