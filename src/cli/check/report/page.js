"use strict";
(() => {
  // The data of the page, with each name once, and six numbers for each link.
  const data = JSON.parse(document.getElementById("data").textContent);
  const WIDTH = 6, [TARGET, FILE, LINE, COLUMN, LOCATION, REFERENCE] = [0, 1, 2, 3, 4, 5];
  const field = (link, which) => data.links[link * WIDTH + which];
  const SIZE = data.links.length / WIDTH;
  // The number of rows to draw at a time.
  const ROWS = 100;
  const number = new Intl.NumberFormat("en-US").format;
  const compare = new Intl.Collator("en-US", { numeric: true }).compare;

  const element = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const button = (text, click, attributes = {}) => {
    const node = element("button", { type: "button", ...attributes }, text);
    node.addEventListener("click", click);
    return node;
  };
  const numbers = (size, of) => Uint32Array.from({ length: size }, (_, index) => of(index));

  // The rank of each text in sorted order.
  const ranks = (texts) => {
    const order = numbers(texts.length, (index) => index);
    order.sort((one, other) => compare(texts[one], texts[other]));
    const rank = new Uint32Array(texts.length);
    order.forEach((text, place) => { rank[text] = place; });
    return rank;
  };

  const className = (target) => data.classes[data.targets[target][0]][0];
  const causes = data.targets.map(([, cause], target) => className(target) + (cause && ` (${cause})`));
  const tag = (target) => {
    const cell = [element("span", { class: `tag ${className(target)}` }, causes[target])];
    if (data.classes[data.targets[target][0]][1]) cell.push(" ", element("b", { class: "fails" }, "fails"));
    return cell;
  };
  const leadsTo = data.targets.map((target) => target[2]);
  const paths = data.files.map((file) => file[0]);
  const place = (link) => {
    const [path, href] = data.files[field(link, FILE)];
    const [line, column] = [field(link, LINE), field(link, COLUMN)];
    return element("a", { href }, element("bdi", {}, path), `:${line}:${column}`);
  };

  // A table that is drawn page by page. Each column has a `name`; `cell` returns the content of a cell, and `keys` returns the
  // sort keys. The filter searches `texts`: `values` are distinct texts, and `of` returns the index of the text of a row.
  const grid = ({ id, size, columns, texts, classOf }) => {
    const section = document.getElementById(id);
    const table = section.querySelector("table") ??
      section.appendChild(element("table", { role: "table", id: `${id}-table` },
        element("caption", {}, "Every link, by target"),
        element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
          ...columns.map(({ name, isNumber }) =>
            element("th", { role: "columnheader", scope: "col", ...(isNumber && { class: "n" }) }, name)))),
        element("tbody", { role: "rowgroup" })));
    section.querySelectorAll(".unscripted").forEach((note) => note.remove());
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    let order = numbers(size, (row) => row), shown = order, first = 0, only = null;
    const mask = new Uint8Array(size).fill(1);

    const label = `Filter ${id}`;
    const search = element("input", { type: "search", "aria-label": label, placeholder: label, spellcheck: "false" });
    const status = element("span", { role: "status" });
    const tools = element("div", { class: "tools" }, search);
    const off = new Set();
    const present = classOf ? [...new Set(numbers(size, classOf))].sort((one, other) => one - other) : [];
    if (present.length > 1) {
      tools.append(element("fieldset", {}, element("legend", {}, "Classes"), ...present.map((which) => {
        const box = element("input", { type: "checkbox", value: data.classes[which][0], checked: "" });
        box.addEventListener("change", () => {
          if (box.checked) off.delete(which); else off.add(which);
          filter();
        });
        return element("label", {}, box, ` ${data.classes[which][0]}`);
      })));
    }
    const pin = element("p", { class: "pin" });
    const back = button("Previous", () => turn(first - ROWS)), on = button("Next", () => turn(first + ROWS));
    const pages = element("nav", { class: "pages", "aria-label": `Pages of ${id}` }, back, on);
    tools.append(status);
    table.before(tools, pin);
    table.after(pages);

    const draw = () => {
      const rows = [...shown.subarray(first, first + ROWS)].map((row) =>
        element("tr", { role: "row" }, ...columns.map(({ name, isNumber, cell }) =>
          element("td", { role: "cell", "data-label": name, ...(isNumber && { class: "n" }) }, ...[cell(row)].flat()))));
      body.replaceChildren(...rows);
      const end = Math.min(first + ROWS, shown.length);
      const part = end - first < shown.length ? `${number(first + 1)}–${number(end)} of ` : "";
      status.textContent = `${part}${number(shown.length)}${shown.length < size ? ` of ${number(size)}` : ""} ${id}`;
      pages.hidden = shown.length <= ROWS;
      back.disabled = first === 0;
      on.disabled = end === shown.length;
    };
    const turn = (to) => {
      first = Math.max(0, to);
      draw();
      tools.scrollIntoView({ block: "nearest" });
    };
    const show = () => {
      shown = order.filter((row) => mask[row]);
      first = 0;
      draw();
    };
    let lower = null;
    const filter = () => {
      lower ??= texts.map(({ values }) => values.map((value) => value.toLowerCase()));
      mask.fill(1);
      for (const word of search.value.toLowerCase().split(/\s+/).filter(Boolean)) {
        const hits = lower.map((values) => Uint8Array.from(values, (value) => value.includes(word)));
        for (let row = 0; row < size; row += 1) {
          if (mask[row] && !texts.some(({ of }, source) => hits[source][of(row)])) mask[row] = 0;
        }
      }
      for (let row = 0; row < size; row += 1) {
        if ((off.size && off.has(classOf(row))) || (only && !only(row))) mask[row] = 0;
      }
      show();
    };
    search.addEventListener("input", filter);

    heads.forEach((head, column) => {
      const { keys, isNumber } = columns[column];
      if (!keys) return;
      let known = null;
      const sort = button("", () => {
        // The first click on a column of numbers puts the largest first.
        const was = head.getAttribute("aria-sort");
        const isDown = was ? was === "ascending" : Boolean(isNumber);
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        known ??= keys();
        order = numbers(size, (row) => row);
        order.sort((one, other) => (isDown ? known[other] - known[one] : known[one] - known[other]) || one - other);
        show();
      });
      sort.append(...head.childNodes);
      head.append(sort);
    });
    show();
    return {
      // Shows only the rows that pass `test`; `what` describes them.
      only: (what, test) => {
        only = test;
        pin.replaceChildren(`Only links ${what}. `, button("Show all", () => {
          only = null;
          pin.replaceChildren();
          filter();
          search.focus();
        }));
        filter();
        section.scrollIntoView();
        section.querySelector("h2").focus();
      },
    };
  };

  if (!SIZE) return;
  const ofTarget = (values) => () => Uint32Array.from({ length: SIZE }, (_, link) => values[field(link, TARGET)]);
  const links = grid({
    id: "links",
    size: SIZE,
    columns: [
      { name: "Place", cell: place, keys: () => {
        const rank = ranks(paths);
        return Float64Array.from({ length: SIZE }, (_, link) => rank[field(link, FILE)] * 2 ** 28 + field(link, LINE));
      } },
      { name: "Class", cell: (link) => tag(field(link, TARGET)), keys: () => ofTarget(ranks(causes))() },
      { name: "Element", cell: (link) => element("code", {}, data.names[field(link, LOCATION)]),
        keys: () => { const rank = ranks(data.names); return numbers(SIZE, (link) => rank[field(link, LOCATION)]); } },
      { name: "Reference", cell: (link) => element("code", {}, data.names[field(link, REFERENCE)]),
        keys: () => { const rank = ranks(data.names); return numbers(SIZE, (link) => rank[field(link, REFERENCE)]); } },
      { name: "Leads to", cell: (link) => element("code", {}, leadsTo[field(link, TARGET)]),
        keys: () => ofTarget(ranks(leadsTo))() },
    ],
    texts: [
      { values: paths, of: (link) => field(link, FILE) },
      { values: causes, of: (link) => field(link, TARGET) },
      { values: leadsTo, of: (link) => field(link, TARGET) },
      { values: data.names, of: (link) => field(link, REFERENCE) },
    ],
    classOf: (link) => data.targets[field(link, TARGET)][0],
  });

  // The links of a target are adjacent.
  const begins = new Uint32Array(data.targets.length).fill(SIZE), placed = new Uint32Array(data.targets.length);
  for (let link = SIZE - 1; link >= 0; link -= 1) {
    begins[field(link, TARGET)] = link;
    placed[field(link, TARGET)] += 1;
  }
  const counts = (rows, which) => ({ isNumber: true, cell: (row) => number(rows[row][which]),
    keys: () => numbers(rows.length, (row) => rows[row][which]) });
  grid({
    id: "targets",
    size: data.targets.length,
    columns: [
      { name: "Class", cell: tag, keys: () => ranks(causes) },
      { name: "Leads to", cell: (target) => [element("code", {}, leadsTo[target]),
        ...data.targets[target][5].flatMap((sentence) => [element("br", {}), element("small", {}, sentence)])],
        keys: () => ranks(leadsTo) },
      { name: "Links", ...counts(data.targets, 3), cell: (target) => {
        const all = number(data.targets[target][3]);
        return placed[target] ? button(all, () => links.only(`to ${leadsTo[target]}`,
          (link) => field(link, TARGET) === target), { "aria-label": `${all}: show the links` }) : all;
      } },
      { name: "Files", ...counts(data.targets, 4) },
      { name: "First places", cell: (target) => {
        const first = Math.min(3, placed[target]);
        return Array.from({ length: first }, (_, which) => place(begins[target] + which))
          .flatMap((one) => [one, element("br", {})]).slice(0, -1);
      } },
    ],
    texts: [
      { values: leadsTo, of: (target) => target },
      { values: causes, of: (target) => target },
    ],
    classOf: (target) => data.targets[target][0],
  });
  grid({
    id: "files",
    size: data.files.length,
    columns: [
      { name: "File", cell: (file) => [
        element("a", { href: data.files[file][1] }, element("bdi", {}, paths[file])),
        " ",
        button("links", () => links.only(`in ${paths[file]}`, (link) => field(link, FILE) === file),
          { "aria-label": `Show the links in ${paths[file]}` }),
      ], keys: () => ranks(paths) },
      ...data.columns.map((which, place) => ({ name: data.classes[which][0], ...counts(data.files, place + 2) })),
      { name: "Links", ...counts(data.files, data.columns.length + 2) },
    ],
    texts: [{ values: paths, of: (file) => file }],
  });
})();
