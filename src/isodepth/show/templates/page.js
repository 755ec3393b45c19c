"use strict";
// Tables are sorted by a click on a heading, and filtered by a search field.
document.querySelectorAll("table.sortable").forEach(function (table) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);

  function compare(at, direction) {
    return function (a, b) {
      const x = a.cells[at].dataset.value, y = b.cells[at].dataset.value;
      // Missing values come last in both orders.
      if (x === "" || y === "") return (x === "") - (y === "");
      const apart = Number(x) - Number(y);
      return direction * (Number.isNaN(apart) ? x.localeCompare(y) : apart);
    };
  }

  heads.forEach(function (head, at) {
    const text = head.textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = "sort by " + text;
    head.replaceChildren(button);
    button.addEventListener("click", function () {
      const now = head.getAttribute("aria-sort");
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const next = now === first ? other : first;
      heads.forEach(function (each) { each.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", next);
      const rows = Array.from(body.rows).sort(compare(at, next === "ascending" ? 1 : -1));
      body.append.apply(body, rows);
    });
  });

  const filter = document.querySelector('.filter[data-for="' + table.id + '"]');
  if (!filter) return;
  const input = filter.querySelector("input"), count = filter.querySelector("output");
  function apply() {
    const wanted = input.value.trim().toLowerCase();
    let left = 0;
    Array.from(body.rows).forEach(function (row) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) left += 1;
    });
    count.textContent = left + " of " + body.rows.length + " rows";
  }
  input.addEventListener("input", apply);
  filter.hidden = false;
  apply();
});
