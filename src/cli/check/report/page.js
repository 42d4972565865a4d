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

  const className = (target) => data.classes[data.targets[target][0]].name;
  const causes = data.targets.map(([, cause], target) => className(target) + (cause && ` (${cause})`));
  const label = (which, text, fails) => [element("span", { class: `tag ${which}` }, text),
    ...(fails ? [" ", element("b", { class: "fails" }, "fails")] : [])];
  const tag = (target) => label(className(target), causes[target], data.classes[data.targets[target][0]].denied);
  const leadsTo = data.targets.map((target) => target[2]);
  const paths = data.files.map((file) => file[0]);
  const place = (link) => {
    const [path, href] = data.files[field(link, FILE)];
    const [line, column] = [field(link, LINE), field(link, COLUMN)];
    return element("a", { href }, element("bdi", {}, path), `:${line}:${column}`);
  };

  const paragraph = (text) => element("p", {}, text);
  // The text of a rule, in which backticks enclose code.
  const marked = (text) => text.split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part));

  // A section with a heading, and a table without rows.
  const section = (id, heading, caption, columns) => {
    const table = element("table", { role: "table", id: `${id}-table` },
      element("caption", {}, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
        ...columns.map(({ name, isNumber }) =>
          element("th", { role: "columnheader", scope: "col", ...(isNumber && { class: "n" }) }, name)))),
      element("tbody", { role: "rowgroup" }));
    const around = document.getElementById(id);
    around.append(element("h2", { tabindex: "-1" }, heading), table);
    return [around, table];
  };
  // Roles are explicit because on narrow screens the style sheet shows rows as a list, which browsers no longer expose as a
  // table. The list omits zeros and dashes.
  const tableRow = (columns, row) => element("tr", { role: "row" }, ...columns.map(({ name, isNumber, cell }) => {
    const content = [cell(row)].flat();
    const kind = isNumber && { class: ["0", "–"].includes(content[0]) ? "n none" : "n" };
    return element("td", { role: "cell", "data-label": name, ...kind }, ...content);
  }));

  // A table that is drawn page by page. Each column has a `name`; `cell` returns the content of a cell, and `keys` returns the
  // sort keys. The filter searches `texts`: `values` are distinct texts, and `of` returns the index of the text of a row.
  const grid = ({ id, heading, caption, size, columns, texts, classOf }) => {
    if (!size) {
      document.getElementById(id).append(element("h2", {}, heading), paragraph("None: no link is broken."));
      return null;
    }
    const [around, table] = section(id, heading, caption, columns);
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    let order = numbers(size, (row) => row), shown = order, first = 0, only = null;
    const mask = new Uint8Array(size).fill(1);

    const purpose = `Filter ${id}`;
    const search = element("input", { type: "search", "aria-label": purpose, placeholder: purpose, spellcheck: "false" });
    const status = element("span", { role: "status" });
    const tools = element("div", { class: "tools" }, search);
    const off = new Set();
    const present = classOf ? [...new Set(numbers(size, classOf))].sort((one, other) => one - other) : [];
    if (present.length > 1) {
      tools.append(element("fieldset", {}, element("legend", {}, "Classes"), ...present.map((which) => {
        const box = element("input", { type: "checkbox", value: data.classes[which].name, checked: "" });
        box.addEventListener("change", () => {
          if (box.checked) off.delete(which); else off.add(which);
          filter();
        });
        return element("label", {}, box, ` ${data.classes[which].name}`);
      })));
    }
    const pin = element("p", { class: "pin" });
    const back = button("Previous", () => turn(first - ROWS)), on = button("Next", () => turn(first + ROWS));
    const pages = element("nav", { class: "pages", "aria-label": `Pages of ${id}` }, back, on);
    tools.append(status);
    table.before(tools, pin);
    table.after(pages);

    const draw = () => {
      body.replaceChildren(...[...shown.subarray(first, first + ROWS)].map((row) => tableRow(columns, row)));
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
        around.scrollIntoView();
        around.querySelector("h2").focus();
      },
    };
  };

  const classColumns = [
    { name: "Class", cell: ({ name, fails }) => label(name, name, fails) },
    { name: "Links", isNumber: true, cell: ({ links }) => number(links) },
    { name: "Targets", isNumber: true, cell: ({ targets }) => targets ? number(targets) : "–" },
    { name: "Such a link", cell: ({ meaning }) => meaning },
  ];
  const [aboutClasses, classTable] = section("classes", "Links by class", "Links by class", classColumns);
  classTable.tBodies[0].append(...data.classes.map((row) => tableRow(classColumns, row)));
  aboutClasses.append(...data.notes.map(paragraph));
  if (data.rules.length) {
    document.getElementById("causes").append(element("h2", {}, "What the causes mean"),
      element("ul", {}, ...data.rules.map(([name, why, help]) => element("li", {}, `${name}: ${why}. `, ...marked(help)))));
  }

  const ofTarget = (values) => () => Uint32Array.from({ length: SIZE }, (_, link) => values[field(link, TARGET)]);
  const links = grid({
    id: "links",
    heading: "Links that are broken or fail",
    caption: "Every link, by target",
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

  const omitted = data.targets.reduce((sum, target) => sum + target[3], 0) - SIZE;
  if (omitted) {
    const are = omitted === 1 ? "link is" : "links are";
    document.getElementById("links").append(
      paragraph(`${number(omitted)} ${are} omitted, those of the last targets; --json lists all.`));
  }

  // The links of a target are adjacent.
  const begins = new Uint32Array(data.targets.length).fill(SIZE), placed = new Uint32Array(data.targets.length);
  for (let link = SIZE - 1; link >= 0; link -= 1) {
    begins[field(link, TARGET)] = link;
    placed[field(link, TARGET)] += 1;
  }
  const counts = (size, of) => ({ isNumber: true, cell: (row) => number(of(row)), keys: () => numbers(size, of) });
  grid({
    id: "targets",
    heading: "Targets of links that are broken or fail",
    caption: "Targets of links, denied classes first",
    size: data.targets.length,
    columns: [
      { name: "Class", cell: tag, keys: () => ranks(causes) },
      { name: "Leads to", cell: (target) => [element("code", {}, leadsTo[target]),
        ...data.targets[target][5].flatMap((sentence) => [element("br", {}), element("small", {}, sentence)])],
        keys: () => ranks(leadsTo) },
      { name: "Links", ...counts(data.targets.length, (target) => data.targets[target][3]), cell: (target) => {
        const all = number(data.targets[target][3]);
        return placed[target] ? button(all, () => links.only(`to ${leadsTo[target]}`,
          (link) => field(link, TARGET) === target), { "aria-label": `${all}: show the links` }) : all;
      } },
      { name: "Files", ...counts(data.targets.length, (target) => data.targets[target][4]) },
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
    heading: "Files with such links",
    caption: "Files with links that break",
    size: data.files.length,
    columns: [
      { name: "File", cell: (file) => [
        element("a", { href: data.files[file][1] }, element("bdi", {}, paths[file])),
        " ",
        button("links", () => links.only(`in ${paths[file]}`, (link) => field(link, FILE) === file),
          { "aria-label": `Show the links in ${paths[file]}` }),
      ], keys: () => ranks(paths) },
      ...[...data.classes.filter(({ column }) => column).map(({ name }) => name), "Links"].map((name, place) =>
        ({ name, ...counts(data.files.length, (file) => data.files[file][2][place]) })),
    ],
    texts: [{ values: paths, of: (file) => file }],
  });
})();
