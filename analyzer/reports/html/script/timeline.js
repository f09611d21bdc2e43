  // The timeline that can be zoomed and moved.
  const timeline = (() => {
    const data = readTimeline();
    const place = document.getElementById("moving-timeline");
    if (!data || !place) return null;
    const kLeast = 20;  // nanoseconds: closer, there is nothing
    const { headings, height } = placeLanes(data);
    const view = { from: data.from, to: data.to };
    let arrows = true, site = 0, planned = false;

    const ruler = element("canvas", { className: "ruler" }), lanes = element("canvas");
    const tip = element("div", { className: "tip", hidden: true });
    const canvases = element("div", { className: "canvases", tabIndex: 0 }, ruler, lanes, tip);
    canvases.setAttribute("role", "group");
    canvases.setAttribute("aria-label", "Timeline. W and S zoom, A and D or the arrows move, 0 shows the whole run, E shows or hides wake arrows.");
    const readout = element("output");
    const bar = element("div", { className: "bar" });
    place.append(bar, canvases,
                 element("p", { className: "faint small", textContent:
                   "Drag to move, Shift and drag to zoom to what is marked; the wheel zooms with Ctrl, or once the timeline has been clicked. W S A D, arrows, 0, E." }));
    place.hidden = false;

    const area = () => {
      const left = Math.min(150, canvases.clientWidth * 0.3);
      return { left, width: Math.max(1, canvases.clientWidth - left) };
    };
    const timeAt = (x) => view.from + (x - area().left) / area().width * (view.to - view.from);

    const prepare = (canvas, tall) => {
      const ratio = devicePixelRatio || 1, wide = canvases.clientWidth;
      canvas.style.height = `${tall}px`;
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(tall * ratio);
      const context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, wide, tall);
      context.font = '11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
      return context;
    };

    const draw = () => {
      planned = false;
      const style = getComputedStyle(root), colours = {};
      for (const token of [...Object.keys(data.words), "text", "faint", "line", "lane", "card", "mark"])
        colours[token] = style.getPropertyValue(`--${token}`).trim();
      const within = area(), context = prepare(lanes, height);
      for (const heading of headings) {
        context.fillStyle = colours.text;
        context.font = '600 11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
        context.fillText(fit(context, heading.text, canvases.clientWidth), 0, heading.y + 15);
      }
      context.font = '11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
      for (const lane of data.lanes) {
        context.fillStyle = colours.faint;
        context.fillText(fit(context, lane.name, within.left - 18), 10, lane.y + 14);
        context.fillStyle = colours.lane;
        context.fillRect(within.left, lane.y, within.width, kLaneHeight);
        if (lane.steps) drawSteps(context, lane, view, within, colours);
        else drawSpans(context, data, lane, view, within, colours);
        if (site !== 0 && lane.site === site) {
          context.strokeStyle = colours.mark;
          context.strokeRect(within.left + 0.5, lane.y - 0.5, within.width - 1, kLaneHeight + 1);
        }
      }
      context.save();
      context.beginPath();
      context.rect(within.left, 0, within.width, height);
      context.clip();
      if (arrows) drawArrows(context, data, view, within, colours);
      drawMarks(context, data, view, within, height, colours, false);
      context.restore();
      const top = prepare(ruler, kRulerHeight);
      drawRuler(top, data, view, within, colours);
      drawMarks(top, data, view, within, kRulerHeight, colours, true);
      readout.textContent = `${durationText(view.from)} to ${durationText(view.to)} (${durationText(view.to - view.from)})`;
      Object.assign(canvases.dataset, { from: view.from, to: view.to, arrows });
    };
    const redraw = () => {
      if (planned) return;
      planned = true;
      requestAnimationFrame(draw);
    };

    const show = (from, to) => {
      const length = Math.min(Math.max(to - from, kLeast), data.to - data.from);
      const middle = (from + to) / 2;
      view.from = Math.min(Math.max(middle - length / 2, data.from), data.to - length);
      view.to = view.from + length;
      tip.hidden = true;
      redraw();
    };
    const zoom = (factor, around = (view.from + view.to) / 2) =>
      show(around - (around - view.from) * factor, around + (view.to - around) * factor);
    const move = (part) => {
      const by = (view.to - view.from) * part;
      show(view.from + by, view.to + by);
    };
    const whole = () => show(data.from, data.to);
    const switchArrows = () => {
      arrows = !arrows;
      arrowButton.setAttribute("aria-pressed", arrows);
      redraw();
    };

    const button = (text, title, action) => {
      const made = element("button", { type: "button", textContent: text, title });
      made.addEventListener("click", action);
      bar.append(made);
      return made;
    };
    button("Whole run", "0", whole);
    data.fine.forEach(([from, to], i) => {
      const mark = data.marks.find(([time]) => time >= from && time <= to);
      button(mark ? `Change to ${mark[1]} at ${durationText(mark[0])}` : "Some iterations", `close-up ${i + 1}`, () => show(from, to));
    });
    button("+", "zoom in (W)", () => zoom(0.5));
    button("−", "zoom out (S)", () => zoom(2));
    const arrowButton = button("Wake arrows", "from signals to the waits that they ended, where few enough are seen (E)", switchArrows);
    arrowButton.setAttribute("aria-pressed", arrows);
    arrowButton.hidden = !data.arrows.length;
    bar.append(readout);

    const keys = { w: () => zoom(0.6), s: () => zoom(1 / 0.6), a: () => move(-0.2), d: () => move(0.2), e: switchArrows,
                   "0": whole, "+": () => zoom(0.6), "-": () => zoom(1 / 0.6), arrowleft: () => move(-0.2),
                   arrowright: () => move(0.2), arrowup: () => zoom(0.6), arrowdown: () => zoom(1 / 0.6), home: whole };
    canvases.addEventListener("keydown", (event) => {
      const action = keys[event.key.toLowerCase()];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
    canvases.addEventListener("wheel", (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (!sideways && !event.ctrlKey && document.activeElement !== canvases) return;  // the page scrolls
      event.preventDefault();
      if (sideways) move((event.deltaX || event.deltaY) / area().width);
      else zoom(1.002 ** Math.max(-300, Math.min(300, event.deltaY)), timeAt(event.offsetX));
    }, { passive: false });

    let drag = null;
    canvases.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvases.setPointerCapture(event.pointerId);
      canvases.classList.add("dragging");
      drag = { x: event.offsetX, from: view.from, to: view.to, marks: event.shiftKey };
    });
    const pointerX = (event) => event.clientX - canvases.getBoundingClientRect().left;
    canvases.addEventListener("pointermove", (event) => {
      if (drag && !drag.marks) {
        const by = (drag.x - pointerX(event)) / area().width * (drag.to - drag.from);
        show(drag.from + by, drag.to + by);
        return;
      }
      hover(event);
    });
    const drop = (event) => {
      if (drag?.marks && Math.abs(pointerX(event) - drag.x) > 3) {
        const ends = [timeAt(drag.x), timeAt(pointerX(event))];
        show(Math.min(...ends), Math.max(...ends));
      }
      drag = null;
      canvases.classList.remove("dragging");
    };
    canvases.addEventListener("pointerup", drop);
    canvases.addEventListener("pointercancel", () => { drag = null; canvases.classList.remove("dragging"); });
    canvases.addEventListener("pointerleave", () => { tip.hidden = true; });

    const hover = (event) => {
      const box = lanes.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      const lane = data.lanes.find((one) => y >= one.y && y < one.y + kLaneHeight);
      const perPixel = (view.to - view.from) / area().width;
      const text = lane && x >= area().left ? describe(data, lane, timeAt(x), 3 * perPixel) : null;
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const wide = canvases.clientWidth;
      tip.style.left = `${x > wide - 360 ? Math.max(0, x - 16 - tip.offsetWidth) : x + 16}px`;
      tip.style.top = `${y + kRulerHeight + 16}px`;
    };

    new ResizeObserver(redraw).observe(canvases);
    whenColoursChange.push(redraw);
    draw();
    return { show, mark: (number) => { site = number; redraw(); }, canvases };
  })();

  // From a finding to its evidence.
  for (const jump of document.querySelectorAll(".jump")) {
    if (!timeline) { jump.hidden = true; continue; }
    jump.addEventListener("click", () => {
      const from = Number(jump.dataset.from), to = Number(jump.dataset.to), around = (to - from) * 0.75;
      timeline.mark(Number(jump.dataset.site));
      timeline.show(from - around, to + around);
      document.getElementById("timeline").scrollIntoView();
      timeline.canvases.focus({ preventScroll: true });
    });
  }
