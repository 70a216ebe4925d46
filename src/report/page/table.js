// Tables sorted by a column: the heads become buttons; pressing again turns the order round.
function make_sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.querySelector(".sort").childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => sort_table(table, heads, index));
  });
}

function sort_table(table, heads, index) {
  const order = heads[index].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[index].setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => sign * compare_cells(a.cells[index], b.cells[index]));
  table.tBodies[0].append(...rows);
}

function compare_cells(a, b) {
  if (a.dataset.value !== undefined) return Number(a.dataset.value) - Number(b.dataset.value);
  return a.textContent.localeCompare(b.textContent, "en", { numeric: true });
}
