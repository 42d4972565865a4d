"use strict";
for (const table of document.querySelectorAll("table[data-tools]")) {
  const body = table.tBodies[0], rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent;
      const compare = new Intl.Collator(undefined, { numeric: true }).compare;
      rows.sort((one, other) => down * compare(key(one), key(other)));
      body.append(...rows);
    });
  });
  const tools = document.createElement("div");
  tools.className = "tools";
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Filter";
  search.setAttribute("aria-label", "Show only rows with this text");
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const classes = [...new Set(rows.map((row) => row.dataset.class).filter(Boolean))];
  const boxes = classes.map((name) => {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.value = name;
    label.append(box, " " + name);
    return label;
  });
  const filter = () => {
    const text = search.value.toLowerCase();
    const off = boxes.map((label) => label.firstChild).filter((box) => !box.checked).map((box) => box.value);
    let shown = 0;
    for (const row of rows) {
      row.hidden = off.includes(row.dataset.class) || !row.textContent.toLowerCase().includes(text);
      if (!row.hidden) shown += 1;
    }
    said.textContent = shown + " of " + rows.length + " rows";
  };
  tools.append(search, ...boxes, said);
  tools.addEventListener("input", filter);
  table.parentElement.before(tools);
  filter();
}
