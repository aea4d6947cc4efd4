"use strict";
(() => {
  // ---- Tables: sorted by a click on a heading, in three turns: one way, the other, as it was.
  function sortTable(table, heading) {
    const headings = [...table.querySelectorAll("th[aria-sort]")];
    const column = headings.indexOf(heading);
    const numeric = heading.classList.contains("number");
    const turns = numeric ? ["none", "descending", "ascending"] : ["none", "ascending", "descending"];
    const turn = turns[(turns.indexOf(heading.getAttribute("aria-sort")) + 1) % turns.length];
    headings.forEach((other) => other.setAttribute("aria-sort", other === heading ? turn : "none"));
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((first, second) => first.place - second.place);
    if (turn !== "none") {
      const sign = turn === "ascending" ? 1 : -1;
      rows.sort((first, second) => compare(first.cells[column], second.cells[column], numeric, sign));
    }
    body.append(...rows);
  }

  function compare(first, second, numeric, sign) {
    const one = first.dataset.order, other = second.dataset.order;
    if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
    return sign * (numeric ? Number(one) - Number(other) : one.localeCompare(other));
  }

  // ---- CSV: what the table shows; a mean and its spread in columns of their own.
  function csv(table) {
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
    const headings = [...table.querySelectorAll("th[aria-sort]")].map((heading) => heading.dataset.full);
    const spread = headings.map((_, column) => rows.some((row) => row[column].includes(" ± ")));
    const lines = [
      headings.flatMap((text, column) => (spread[column] ? [text, `${text}, standard deviation`] : [text])),
      ...rows.map((row) =>
        row.flatMap((text, column) => (spread[column] ? [...text.split(" ± "), ""].slice(0, 2) : [text]))
      ),
    ];
    return lines.map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
  }

  function field(text) {
    let value = text === "–" ? "" : text.replace(/^−/, "-");
    // A spreadsheet would take these for formulas; a plain number with its sign is one.
    if (/^[=+\-@\t\r]/.test(value) && !/^[+-]?\d+(\.\d+)?$/.test(value)) value = `'${value}`;
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  }

  function download(table) {
    const link = document.createElement("a");
    // The mark at the beginning tells spreadsheets that it is UTF-8.
    link.href = URL.createObjectURL(new Blob(["\ufeff", csv(table)], { type: "text/csv;charset=utf-8" }));
    link.download = `${table.dataset.name}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  document.querySelectorAll("table[data-name]").forEach((table) => {
    [...table.tBodies[0].rows].forEach((row, place) => { row.place = place; });
    table.querySelectorAll("th[aria-sort]").forEach((heading) => {
      heading.querySelector("button").addEventListener("click", () => sortTable(table, heading));
    });
    table.closest(".table").querySelector(".csv").addEventListener("click", () => download(table));
  });

  // ---- Plots: the data name colours of the theme, "@ink" or "@series-0/20", and are drawn again when it changes.
  function colour(name) {
    const [token, percent] = name.slice(1).split("/");
    const value = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
    if (!percent) return value;
    const [red, green, blue] = [1, 3, 5].map((start) => parseInt(value.slice(start, start + 2), 16));
    return `rgba(${red},${green},${blue},${Number(percent) / 100})`;
  }

  function themed(item, key = "") {
    if (typeof item === "string") return item.startsWith("@") && /color(scale)?$/.test(key) ? colour(item) : item;
    if (Array.isArray(item)) return item.map((part) => themed(part, key));
    if (item === null || typeof item !== "object") return item;
    return Object.fromEntries(Object.entries(item).map(([name, part]) => [name, themed(part, name)]));
  }

  const config = { responsive: true, displaylogo: false, modeBarButtons: [["toImage"]] };
  const plots = [...document.querySelectorAll("figure.plot")].map((figure) => ({
    canvas: figure.querySelector(".canvas"),
    chosen: figure.querySelector("select"),
    figures: JSON.parse(figure.querySelector("script").textContent),
  }));

  function draw(plot, width) {
    const { data, layout } = themed(plot.figures[plot.chosen ? Number(plot.chosen.value) : 0]);
    if (width) Object.assign(layout, { width, autosize: false });
    // On a phone the legend has a line for every entry; the plot below it keeps its height.
    const entries = data.filter((trace) => trace.name && trace.showlegend !== false).length;
    if ((width || plot.canvas.clientWidth) < 480) layout.height += 20 * entries;
    return Plotly.react(plot.canvas, data, layout, config);
  }

  plots.forEach((plot) => {
    draw(plot);
    if (plot.chosen) plot.chosen.addEventListener("change", () => draw(plot));
  });
  const redraw = (width) => plots.forEach((plot) => draw(plot, width));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
  // As wide as a sheet of paper, in the colours of print.
  matchMedia("print").addEventListener("change", (event) => redraw(event.matches ? 660 : undefined));
})();
