  // Maps times of one trace to times of the other, by the same formula as alignment.h.
  const readAlignment = () => {
    const holder = document.getElementById("timeline-pairs");
    if (!holder) return null;
    const values = JSON.parse(holder.textContent), count = values.length / 4;
    const sides = [0, 1].map((side) => {
      const list = { numbers: new Array(count), begins: new Array(count) };
      for (let i = 0, number = 0, at = 0; i < count; ++i) {
        list.numbers[i] = number += values[4 * i + 2 * side];
        list.begins[i] = at += values[4 * i + 2 * side + 1];
      }
      return list;
    });
    const partner = (time, of) => {
      const own = sides[of].begins, other = sides[1 - of].begins, i = indexAt(own, time);
      if (i < 0) return other[0] - (own[0] - time);
      if (i + 1 >= count) return other[i] + (time - own[i]);
      return other[i] + (time - own[i]) / (own[i + 1] - own[i]) * (other[i + 1] - other[i]);
    };
    return { sides, partner };
  };

  // The index of the last element of `times` that is at or before `time`; -1 before the first.
  const indexAt = (times, time) => {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
