  // Reads the timeline's data (format: timeline_data.h) and turns time differences into times.
  const readTimeline = (side) => {
    const holder = document.getElementById(`timeline-data${side}`);
    if (!holder) return null;
    const data = JSON.parse(holder.textContent);
    for (const lane of data.lanes) {
      const values = lane.steps ?? lane.spans;
      const each = lane.steps ? 1 + lane.doing.length : 5;
      lane.length = values.length / each;
      lane.each = each;
      lane.values = Float64Array.from(values);
      let at = 0, longest = 0;
      for (let i = 0; i < lane.length; ++i) {
        at += lane.values[i * each];
        lane.values[i * each] = at;
        if (lane.spans) longest = Math.max(longest, lane.values[i * each + 1]);
      }
      lane.longest = longest;  // a span in view begins at most this long before the view
    }
    return data;
  };

  // The index of the last entry that begins at or before `time`; -1 before the first.
  const lastAt = (lane, time) => {
    let low = 0, high = lane.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.values[middle * lane.each] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };

  const durationText = (ns) => {
    for (const [unit, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
      if (Math.abs(ns) >= unit) return `${Number((ns / unit).toPrecision(4))} ${name}`;
    }
    return `${Math.round(ns)} ns`;
  };

  // Describes what a lane shows at a time, for the tooltip; null if it shows nothing.
  const describe = (data, lane, time, reach) => {
    if (time < data.from || time > data.to) return null;
    const title = `${lane.group}, ${lane.name}`;
    if (lane.steps) {
      const i = lastAt(lane, time);
      if (i < 0) return null;
      const begin = lane.values[i * lane.each];
      const end = i + 1 < lane.length ? lane.values[(i + 1) * lane.each] : data.to;
      const parts = [];
      let mean = false;
      lane.doing.forEach((doing, k) => {
        const hundredths = lane.values[i * lane.each + 1 + k];
        mean ||= hundredths % 100 !== 0;
        if (hundredths > 0) parts.push(`${hundredths / 100} of ${lane.full}: ${data.words[doing]}`);
      });
      if (!parts.length) parts.push("no waiter");
      return `${title}\n${parts.join("\n")}\nfrom ${durationText(begin)}, for ${durationText(end - begin)}${mean ? " (mean)" : ""}`;
    }
    let best = -1, distance = reach;
    for (let i = lastAt(lane, time + reach); i >= 0 && lane.values[i * 5] >= time - reach - lane.longest; --i) {
      const begin = lane.values[i * 5], end = begin + lane.values[i * 5 + 1];
      const away = Math.max(begin - time, time - end, 0);
      if (away < distance || (away === 0 && best < 0)) { best = i; distance = away; }
      if (away === 0) break;
    }
    if (best < 0) return null;
    const [begin, length, doing, label, count] = lane.values.subarray(best * 5, best * 5 + 5);
    const what = data.labels[label] || data.words[lane.doing[doing]];
    const many = count > 1 ? `${count} within ${durationText(length)}` : (length > 0 ? `for ${durationText(length)}` : "");
    const polling = lane.polling?.[best] ? [`${lane.polling[best]} %: ${data.polling}`] : [];
    return [title, what, ...polling, `at ${durationText(begin)}${many ? ", " + many : ""}`].join("\n");
  };

