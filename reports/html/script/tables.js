  // A click on a column's header sorts the table: numbers from the largest, texts from A. Sub-rows stay below their row.
  {
    const keyOf = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
    };
    const compare = (a, b) => {
      if (typeof a === "number" && typeof b === "number") return a - b;
      return typeof a === typeof b ? a.localeCompare(b) : 0;
    };
    const sort = (table, column, descending) => {
      const body = table.tBodies[0];
      const groups = [];
      for (const row of body.rows) {
        if (row.classList.contains("sub") && groups.length) groups.at(-1).push(row);
        else groups.push([row]);
      }
      const numbers = table.tHead.rows[0].cells[column].classList.contains("n");
      const unknown = (key) => numbers && typeof key !== "number";
      groups.sort((x, y) => {
        const a = keyOf(x[0], column), b = keyOf(y[0], column);
        if (unknown(a) !== unknown(b)) return unknown(a) ? 1 : -1;  // unknown values come last in either order
        return descending ? compare(b, a) : compare(a, b);
      });
      body.append(...groups.flat());
    };
    for (const table of document.querySelectorAll("table")) {
      const heads = [...table.tHead.rows[0].cells];
      heads.forEach((head, column) => {
        const button = element("button", { type: "button", title: "Sort by this column" });
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => {
          const now = head.getAttribute("aria-sort");
          const descending = now ? now === "ascending" : head.classList.contains("n");
          for (const other of heads) other.removeAttribute("aria-sort");
          head.setAttribute("aria-sort", descending ? "descending" : "ascending");
          sort(table, column, descending);
        });
      });
    }
  }

