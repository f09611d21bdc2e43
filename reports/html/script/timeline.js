  // The interactive timeline. Two traces zoom and move together: same iteration on the left, same scale.
  const timeline = (() => {
    const alignment = readAlignment();
    const found = ["-before", ""].map((side) => [readTimeline(side), document.getElementById(`moving-timeline${side}`)])
                                 .filter(([data]) => data);
    if (!found.length) return null;
    const kShortestView = 20;  // nanoseconds; below the resolution of the recorded times
    const board = { arrows: true };
    const readout = element("output");
    const bar = element("div", { className: "bar" });
    found[0][1].append(bar);

    const sides = [];
    const partnerOf = (side, time) => alignment.partner(time, sides.indexOf(side));
    const otherOf = (side) => sides.find((one) => one !== side);

    // The window that contains both traces, in this side's times.
    const wholeOf = (side) => {
      const other = otherOf(side);
      if (!other) return { from: side.data.from, to: side.data.to };
      const own = alignment.sides[sides.indexOf(side)].begins[0], partner = alignment.sides[sides.indexOf(other)].begins[0];
      return { from: own - Math.max(own - side.data.from, partner - other.data.from),
               to: own + Math.max(side.data.to - own, other.data.to - partner) };
    };
    // The latest begin of a view of `length`: that view ends where the later of the two traces ends.
    const lastBegin = (side, length) => {
      const other = otherOf(side);
      return other ? Math.max(side.data.to - length, partnerOf(other, other.data.to - length)) : side.data.to - length;
    };

    board.show = (side, from, to) => {
      const whole = wholeOf(side);
      const length = Math.min(Math.max(to - from, kShortestView), whole.to - whole.from);
      const begin = Math.max(Math.min((from + to) / 2 - length / 2, lastBegin(side, length)), whole.from);
      side.set(begin, begin + length);
      const other = otherOf(side);
      if (other) {
        const partner = partnerOf(side, begin);
        other.set(partner, partner + length);
      }
      const shown = sides.at(-1).view;
      readout.textContent = `${durationText(shown.from)} to ${durationText(shown.to)} (${durationText(length)})`;
    };
    board.whole = () => {
      const { from, to } = wholeOf(sides[0]);
      board.show(sides[0], from, to);
    };
    board.switchArrows = () => {
      board.arrows = !board.arrows;
      arrowButton.setAttribute("aria-pressed", board.arrows);
      for (const side of sides) side.redraw();
    };
    found.forEach(([data, place], i) => sides.push(makeLanes(data, place, alignment?.sides[i], board)));
    const subject = sides.at(-1);  // the trace that the report is about

    const button = (text, title, action) => {
      const made = element("button", { type: "button", textContent: text, title });
      made.addEventListener("click", action);
      bar.append(made);
      return made;
    };
    const closeUpText = (from, to) => {
      const change = subject.data.marks.find(([time]) => time >= from && time <= to);
      if (change) return `Change to ${change[1]} at ${durationText(change[0])}`;
      if (!alignment) return "Some iterations";
      const { begins, numbers } = alignment.sides[1];
      return `From iteration ${numbers[Math.max(0, indexAt(begins, from))]}`;
    };
    button(sides.length > 1 ? "Both whole runs" : "Whole run", "0", board.whole);
    subject.data.fine.forEach(([from, to], i) => button(closeUpText(from, to), `close-up ${i + 1}`, () => board.show(subject, from, to)));
    button("+", "zoom in (W)", () => subject.zoom(0.5));
    button("−", "zoom out (S)", () => subject.zoom(2));
    const arrowButton = button("Wake arrows", "from signals to the waits that they ended, if few enough are in view (E)", board.switchArrows);
    arrowButton.setAttribute("aria-pressed", board.arrows);
    arrowButton.hidden = !sides.some((side) => side.data.arrows.length);
    bar.append(readout);
    subject.canvases.after(element("p", { className: "faint small", textContent:
      "Drag to move; Shift and drag to zoom to the marked part. The wheel zooms with Ctrl, or after a click on the timeline. Keys: W S A D, arrows, 0, E." }));
    board.whole();
    return { show: (from, to) => board.show(subject, from, to), mark: subject.mark, canvases: subject.canvases };
  })();

  // A finding's button shows its evidence on the timeline.
  for (const jump of document.querySelectorAll(".jump")) {
    if (!timeline) continue;
    jump.hidden = false;
    jump.addEventListener("click", () => {
      const from = Number(jump.dataset.from), to = Number(jump.dataset.to), around = (to - from) * 0.75;
      timeline.mark(Number(jump.dataset.site));
      timeline.show(from - around, to + around);
      document.getElementById("timeline").scrollIntoView();
      timeline.canvases.focus({ preventScroll: true });
    });
  }
