  // Draws the part of the timeline in a view. The cost is bounded because the size of the data is.
  const kLaneHeight = 20, kLaneStep = 24, kGroupHeight = 22, kRulerHeight = 36;

  // Sets the y of each lane; returns the headings with theirs, and the total height.
  const placeLanes = (data) => {
    const headings = [];
    let y = 0, group = null;
    for (const lane of data.lanes) {
      if (lane.group !== group) {
        headings.push({ text: lane.group, y });
        group = lane.group;
        y += kGroupHeight;
      }
      lane.y = y;
      y += kLaneStep;
    }
    return { headings, height: y + 4 };
  };

  const fit = (context, text, width) => {
    if (context.measureText(text).width <= width) return text;
    let shown = text.length;
    while (shown > 1 && context.measureText(text.slice(0, shown) + "…").width > width) --shown;
    return text.slice(0, shown) + "…";
  };

  const tickStep = (length, most) => {
    let power = 10 ** Math.floor(Math.log10(length / most));
    for (;; power *= 10) {
      for (const factor of [1, 2, 5]) if (power * factor * most >= length) return Math.max(1, power * factor);
    }
  };

  const tickText = (time, step, largest) => {
    const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]].find(([size]) => largest >= size) ?? [1, "ns"];
    return `${(time / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9)))} ${name}`;
  };

  // A counted lane: per pixel the mean number of waiters in each state, stacked from the bottom.
  const drawSteps = (context, lane, view, area, colours) => {
    const width = Math.max(1, Math.round(area.width)), states = lane.doing.length;
    const sums = new Float32Array(width * states);
    const perPixel = (view.to - view.from) / width;
    for (let i = Math.max(0, lastAt(lane, view.from)); i < lane.length; ++i) {
      const at = i * lane.each;
      const begin = (Math.max(lane.values[at], view.from) - view.from) / perPixel;
      if (begin >= width) break;
      const next = i + 1 < lane.length ? lane.values[at + lane.each] : lane.values[at];
      const end = Math.min((Math.min(next, view.to) - view.from) / perPixel, width);
      for (let k = 0; k < states; ++k) {
        const value = lane.values[at + 1 + k];
        if (value === 0) continue;
        for (let x = Math.floor(begin); x < end; ++x) {
          sums[x * states + k] += value * (Math.min(end, x + 1) - Math.max(begin, x));
        }
      }
    }
    for (let x = 0; x < width; ++x) {
      let below = 0;
      for (let k = 0; k < states; ++k) {
        const height = Math.min(1, sums[x * states + k] / 100 / lane.full) * kLaneHeight;
        if (height <= 0) continue;
        context.fillStyle = colours[lane.doing[k]];
        context.fillRect(area.left + x, lane.y + kLaneHeight - below - height, 1, height);
        below += height;
      }
    }
  };

  // Stripes of which all rectangles show the same ones.
  const drawHatched = (context, x, y, width, height, colour) => {
    const step = 6;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.beginPath();
    for (let sum = Math.floor((x + y) / step) * step; sum < x + width + y + height + step; sum += step) {
      context.moveTo(sum - y, y);
      context.lineTo(sum - y - height, y + height);
    }
    context.stroke();
    context.restore();
  };

  const drawSpans = (context, data, lane, view, area, colours) => {
    const scale = area.width / (view.to - view.from);
    let first = lastAt(lane, view.from);
    while (first > 0 && lane.values[first * 5] > view.from - lane.longest) --first;
    let drawnTo = -1;
    for (let i = Math.max(0, first); i < lane.length; ++i) {
      const [begin, length, doing, label, count] = lane.values.subarray(i * 5, i * 5 + 5);
      if (begin > view.to) break;
      const left = Math.max((begin - view.from) * scale, 0);
      const right = Math.min((begin + length - view.from) * scale, area.width);
      if (right < 0 || (right <= drawnTo && right - left < 1)) continue;
      const width = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
      drawnTo = left + width;
      const state = lane.doing[doing];
      context.fillStyle = colours[state];
      const above = length === 0 ? 8 : 0;  // a signal has no length: drawn as a short mark
      context.fillRect(area.left + left, lane.y + above, width, kLaneHeight - above);
      const polling = lane.polling?.[i] ?? 0;
      if (polling > 0) {
        const tall = Math.max(2, Math.round(kLaneHeight * polling / 100));
        drawHatched(context, area.left + left, lane.y + kLaneHeight - tall, width, tall, colours.poll);
      }
      if (width < 36) continue;
      const text = fit(context, data.labels[label] || (count > 1 ? `${count}` : ""), width - 8);
      if (polling > 0) {  // stripes behind letters could not be read
        context.fillStyle = colours[state];
        context.fillRect(area.left + left + 2, lane.y, context.measureText(text).width + 4, kLaneHeight);
      }
      context.fillStyle = state === "call" || state === "kernel" ? colours.text : colours.card;
      context.fillText(text, area.left + left + 4, lane.y + 14);
    }
  };

  const drawArrows = (context, data, view, area, colours) => {
    const x = (time) => area.left + (time - view.from) / (view.to - view.from) * area.width;
    const seen = data.arrows.filter(([, sent, , ended]) => ended >= view.from && sent <= view.to);
    let first = Infinity, last = 0;
    for (const [, sent, , ended] of seen) {
      first = Math.min(first, Math.max(sent, view.from));
      last = Math.max(last, Math.min(ended, view.to));
    }
    if (seen.length > 400 || (seen.length > 20 && seen.length > (x(last) - x(first)) / 2)) return;  // too dense to follow one arrow
    context.strokeStyle = context.fillStyle = colours.mark;
    context.globalAlpha = 0.55;
    for (const [from, sent, to, ended] of seen) {
      const tipX = x(ended), tipY = data.lanes[to].y + kLaneHeight / 2;
      context.beginPath();
      context.moveTo(x(sent), data.lanes[from].y + kLaneHeight);
      context.lineTo(tipX, tipY);
      context.stroke();
      context.fillRect(tipX - 2, tipY - 2, 4, 4);
    }
    context.globalAlpha = 1;
  };

  const drawMarks = (context, data, view, area, height, colours, labels) => {
    context.strokeStyle = context.fillStyle = colours.mark;
    context.setLineDash([4, 3]);
    const seen = data.marks.filter(([time]) => time >= view.from && time <= view.to)
                           .map(([time, mode]) => [Math.round(area.left + (time - view.from) / (view.to - view.from) * area.width) + 0.5, mode]);
    const kMostLines = 24;  // more would hide what they divide
    let free = area.left;  // beyond the last label
    seen.forEach(([x, mode], i) => {
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, seen.length > kMostLines ? Math.min(4, height) : height);
      context.stroke();
      if (!labels) return;
      // Right of its line; left of it if the next line is too near; else no label.
      const wide = context.measureText(mode).width + 8, next = seen[i + 1]?.[0] ?? area.left + area.width;
      if (x >= free && x + wide <= next) context.fillText(mode, x + 4, 10);
      else if (x - wide >= free) context.fillText(mode, x - wide + 4, 10);
      free = x + wide <= next ? x + wide : x;
    });
    context.setLineDash([]);
  };

  // The begins of iterations, in two traces aligned by them; numbered where the labels fit.
  const drawIterations = (context, data, iterations, view, area, height, colours, labels) => {
    const { begins, numbers } = iterations, scale = area.width / (view.to - view.from);
    const first = Math.max(0, indexAt(begins, view.from)), last = indexAt(begins, view.to);
    const spacing = (begins[last] - begins[first]) * scale / Math.max(1, last - first);
    if (last > first && spacing < 8) return;
    context.strokeStyle = colours.line;
    context.fillStyle = colours.text;
    for (let i = first; i <= last; ++i) {
      const x = Math.round(area.left + (begins[i] - view.from) * scale) + 0.5;
      if (x < area.left) continue;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.stroke();
      const free = data.marks.every(([time]) => Math.abs(time - begins[i]) * scale > 60);
      if (labels && spacing > 46 && free && i + 1 < begins.length) context.fillText(`#${numbers[i]}`, x + 4, 10);
    }
  };

  const drawRuler = (context, data, view, area, colours) => {
    const step = tickStep(view.to - view.from, Math.max(2, area.width / 110));
    context.fillStyle = colours.faint;
    context.strokeStyle = colours.line;
    context.textAlign = "center";
    for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
      if (time < data.from || time > data.to) continue;
      const x = area.left + (time - view.from) / (view.to - view.from) * area.width;
      context.beginPath();
      context.moveTo(x, kRulerHeight - 5);
      context.lineTo(x, kRulerHeight);
      context.stroke();
      if (x > area.left + 20 && x < area.left + area.width - 24) context.fillText(tickText(time, step, view.to), x, kRulerHeight - 8);
    }
    context.textAlign = "left";
  };

