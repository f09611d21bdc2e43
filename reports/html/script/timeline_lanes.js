  // One trace's lanes: draws its view, and passes mouse and key actions to `board`, which moves both traces together.
  const makeLanes = (data, place, iterations, board) => {
    const { headings, height } = placeLanes(data);
    const view = { from: data.from, to: data.to };
    let site = 0, planned = false;

    const ruler = element("canvas", { className: "ruler" }), lanes = element("canvas");
    const tip = element("div", { className: "tip", hidden: true });
    const canvases = element("div", { className: "canvases", tabIndex: 0 }, ruler, lanes, tip);
    canvases.setAttribute("role", "group");
    canvases.setAttribute("aria-label", `Timeline${place.dataset.title ? " " + place.dataset.title : ""}. ` +
      "W and S zoom, A and D or the arrows move, 0 shows the whole run, E shows or hides wake arrows.");
    if (place.dataset.title) place.append(element("h3", { textContent: place.dataset.title }));
    place.append(canvases);
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
      // Outside the recorded time not even the lane's background is drawn.
      const scale = within.width / (view.to - view.from);
      const begin = Math.max(0, (data.from - view.from) * scale), end = Math.min(within.width, (data.to - view.from) * scale);
      for (const lane of data.lanes) {
        context.fillStyle = colours.faint;
        context.fillText(fit(context, lane.name, within.left - 18), 10, lane.y + 14);
        context.fillStyle = colours.lane;
        if (end > begin) context.fillRect(within.left + begin, lane.y, end - begin, kLaneHeight);
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
      if (iterations) drawIterations(context, data, iterations, view, within, height, colours, false);
      if (board.arrows) drawArrows(context, data, view, within, colours);
      drawMarks(context, data, view, within, height, colours, false);
      context.restore();
      const top = prepare(ruler, kRulerHeight);
      if (iterations) drawIterations(top, data, iterations, view, within, kRulerHeight, colours, true);
      drawRuler(top, data, view, within, colours);
      drawMarks(top, data, view, within, kRulerHeight, colours, true);
      Object.assign(canvases.dataset, { from: view.from, to: view.to, arrows: board.arrows });
    };
    const redraw = () => {
      if (planned) return;
      planned = true;
      requestAnimationFrame(draw);
    };
    const set = (from, to) => {
      Object.assign(view, { from, to });
      tip.hidden = true;
      redraw();
    };

    const show = (from, to) => board.show(self, from, to);
    const zoom = (factor, around = (view.from + view.to) / 2) =>
      show(around - (around - view.from) * factor, around + (view.to - around) * factor);
    const move = (part) => {
      const by = (view.to - view.from) * part;
      show(view.from + by, view.to + by);
    };

    const keys = { w: () => zoom(0.6), s: () => zoom(1 / 0.6), a: () => move(-0.2), d: () => move(0.2), e: board.switchArrows,
                   "0": board.whole, "+": () => zoom(0.6), "-": () => zoom(1 / 0.6), arrowleft: () => move(-0.2),
                   arrowright: () => move(0.2), arrowup: () => zoom(0.6), arrowdown: () => zoom(1 / 0.6), home: board.whole };
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
    colourListeners.push(redraw);
    const mark = (number) => { site = number; redraw(); };
    const self = { data, view, canvases, set, zoom, redraw, mark };
    return self;
  };
