// A script that acts in place of the user, for tests and documentation: one step per line.
//
//   wait loaded|facts|idle|error|complete|attached|toggled|before_after|waits N|events N|interventions N|segments N
//        until the condition holds; for at most 20 s, or the number of seconds that follows
//   view NAME          key NAME         type TEXT        enter
//   click ITEM         press_at ITEM X Y      drag ITEM X0 Y0 X1 Y1    wheel ITEM X Y STEPS
//        X, Y: parts of the item's width and height, from 0 to 1
//   dump FILE          shot FILE.png    frames N          resize W H        quit
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/app/app.h"
#include "gui/window/window.h"
#include "protocol/result.h"

namespace wicprof::gui {

class Script {
 public:
  /// Error: no such file.
  static Result<Script> read(const std::string& path);

  /// Call before each frame. Error: an impossible step, or a condition that did not hold in time.
  Result<> step(App& app, Window& window);
  const FakeMouse& mouse() const { return mouse_; }

 private:
  Result<> begin(App& app, Window& window, const std::string& line);
  Result<> begin_mouse(Window& window, const std::string& line, const std::vector<std::string>& words);
  Result<bool> holds(const App& app, const std::vector<std::string>& words, std::size_t& used) const;
  Error failed(const std::string& why) const;

  std::string path_;
  std::vector<std::string> lines_;
  std::size_t next_ = 0;
  std::vector<FakeMouse> pending_;  // one per frame
  std::string typing_;
  FakeMouse mouse_ = FakeMouse::away();
  std::optional<TimeNs> waiting_since_;
  int idle_frames_ = 0;
};

}  // namespace wicprof::gui
