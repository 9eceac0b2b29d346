// SPDX-License-Identifier: BSD-3-Clause
// Draws timelines on canvases: every pixel column shows the share of its time that each kind of work takes.
const Timeline = (() => {
  const ROW = 18, GAP = 3, GROUP = 7, AXIS = 34, TOP = 14;
  // From the bottom of a row to its top.
  const ORDER = ["compute", "exchange", "set-up", "copy samples", "checkpoint", "close", "other", "transfer to writer", "write",
    "flush to device", "write that is waited for", "wait for output"];
  const decoded = new Map();

  // Columns over all rows become arrays per row, with times in seconds.
  const decode = async (source) => {
    const buffer = await unpack(source.data).arrayBuffer();
    const total = source.rows.reduce((sum, row) => sum + row.count, 0);
    const gaps = new Uint32Array(buffer, 0, total), lengths = new Uint32Array(buffer, 4 * total, total);
    const steps = new Int32Array(buffer, 8 * total, total), sizes = new Float32Array(buffer, 12 * total, total);
    const kinds = new Uint8Array(buffer, 16 * total, total);
    let at = 0;
    for (const row of source.rows) {
      row.start = new Float64Array(row.count); row.end = new Float64Array(row.count); row.step = new Int32Array(row.count);
      let ticks = 0, step = 0;
      for (let i = 0; i < row.count; i++) {
        ticks += gaps[at + i]; row.start[i] = ticks * source.quantum;
        ticks += lengths[at + i]; row.end[i] = ticks * source.quantum;
        step += steps[at + i]; row.step[i] = step;
      }
      row.kind = kinds.subarray(at, at + row.count); row.size = sizes.subarray(at, at + row.count);
      at += row.count;
    }
    return source;
  };

  const number = (value, digits = 3) => Number(value.toPrecision(digits)).toString();
  const scaled = (value, units) => {
    const [factor, unit] = units.find(([least]) => value >= least) || units[units.length - 1];
    return `${number(value / factor)} ${unit}`;
  };
  const duration = (value) => scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
  const bytes = (value) => scaled(value, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);

  // The first segment of a row that ends after a time.
  const firstAfter = (row, time) => {
    let low = 0, high = row.count;
    while (low < high) { const middle = (low + high) >> 1; if (row.end[middle] > time) high = middle; else low = middle + 1; }
    return low;
  };

  // Share of each column's time per kind: shares[kind * columns + column].
  const sharesOf = (row, begin, end, columns, kinds) => {
    const shares = new Float32Array(kinds * columns), scale = columns / (end - begin);
    for (let i = firstAfter(row, begin); i < row.count && row.start[i] < end; i++) {
      const from = Math.max(0, (row.start[i] - begin) * scale), to = Math.min(columns, (row.end[i] - begin) * scale);
      const base = row.kind[i] * columns, first = Math.min(columns - 1, Math.floor(from)), last = Math.min(columns - 1, Math.floor(to));
      if (first === last) { shares[base + first] += to - from; continue; }
      shares[base + first] += first + 1 - from;
      for (let column = first + 1; column < last; column++) shares[base + column] = 1;
      shares[base + last] += to - last;
    }
    return shares;
  };

  const packed = (color) => {
    const value = parseInt(color.slice(1), 16);
    return (255 << 24 | (value & 255) << 16 | (value >> 8 & 255) << 8 | value >> 16) >>> 0;
  };

  class View {
    constructor(element, source) {
      this.element = element; this.source = source;
      this.order = source.kinds.map((kind, index) => index).sort((a, b) => ORDER.indexOf(source.kinds[a].label) - ORDER.indexOf(source.kinds[b].label));
      this.colors = source.kinds.map((kind) => packed(kind.color));
      this.home = [Number(element.dataset.begin || 0), Number(element.dataset.end || source.end)];
      [this.begin, this.end] = this.home;
      this.build();
      new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    build() {
      const used = new Set(this.source.rows.flatMap((row) => [...new Set(row.kind)]));
      const make = (name, parent, settings = {}) => parent.appendChild(Object.assign(document.createElement(name), settings));
      const bar = make("div", this.element, { className: "bar" });
      const legend = make("div", bar, { className: "legend" });
      for (const kind of this.order.filter((index) => used.has(index))) {
        const item = make("span", legend, { textContent: this.source.kinds[kind].label });
        item.style.setProperty("--color", this.source.kinds[kind].color);
      }
      const tools = make("div", bar, { className: "tools" });
      const span = () => this.end - this.begin;
      for (const [text, label, action] of [
        ["\u2212", "Zoom out", () => this.zoom(2)], ["+", "Zoom in", () => this.zoom(0.5)],
        ["\u2190", "Earlier", () => this.move(-span() / 3)], ["\u2192", "Later", () => this.move(span() / 3)],
        ["Whole run", "Show the whole run", () => this.show(0, this.source.end)],
      ]) make("button", tools, { type: "button", textContent: text, title: label, ariaLabel: label, onclick: action });
      this.canvas = make("canvas", this.element, { tabIndex: 0 });
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", `Timeline of ${this.source.rows.length} threads over ${number(this.source.end)} seconds`);
      this.canvas.style.height = `${this.place().height}px`;
      this.tip = make("div", this.element, { className: "tip", hidden: true });
      this.listen();
    }

    // Where every row begins, from the top; groups of ranks and their writers are apart.
    place() {
      let y = TOP, afterWriter = false;
      const tops = this.source.rows.map((row) => {
        if (afterWriter && !row.indent) y += GROUP;
        afterWriter = row.indent;
        const top = y; y += ROW + GAP; return top;
      });
      return { tops, bottom: y, height: y + AXIS };
    }

    get left() { return this.canvas.clientWidth < 600 ? 84 : 132; }
    get width() { return this.canvas.clientWidth - this.left - 12; }
    timeAt(x) { return this.begin + (x - this.left) / this.width * (this.end - this.begin); }

    show(begin, end) {
      const length = Math.min(this.source.end, Math.max(end - begin, 20 * this.source.quantum));
      this.begin = Math.max(0, Math.min(begin, this.source.end - length)); this.end = this.begin + length;
      this.draw();
    }
    zoom(factor, around = (this.begin + this.end) / 2) { this.show(around + (this.begin - around) * factor, around + (this.end - around) * factor); }
    move(by) { const length = this.end - this.begin, begin = Math.max(0, Math.min(this.begin + by, this.source.end - length)); this.show(begin, begin + length); }

    listen() {
      const canvas = this.canvas, at = (event) => event.clientX - canvas.getBoundingClientRect().left;
      canvas.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        this.drag = { from: at(event), last: at(event), pan: event.shiftKey || event.pointerType === "touch" };
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        if (!this.drag) return this.point(event);
        const x = at(event);
        if (this.drag.pan) this.move((this.drag.last - x) / this.width * (this.end - this.begin));
        this.drag.last = x; this.tip.hidden = true;
        if (!this.drag.pan) this.draw();
      });
      canvas.addEventListener("pointerup", () => {
        const drag = this.drag; this.drag = null;
        if (!drag || drag.pan) return;
        const [from, to] = [drag.from, drag.last].sort((a, b) => a - b);
        if (to - from > 4) this.show(this.timeAt(Math.max(from, this.left)), this.timeAt(to)); else this.draw();
      });
      canvas.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
      canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
      canvas.addEventListener("dblclick", () => this.show(0, this.source.end));
      canvas.addEventListener("wheel", (event) => {
        if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(event.deltaY / 300), this.timeAt(at(event)));
        else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move(event.deltaX / this.width * (this.end - this.begin));
        else return;
        event.preventDefault();
      }, { passive: false });
      const third = () => (this.end - this.begin) / 3;
      const keys = { ArrowLeft: () => this.move(-third()), ArrowRight: () => this.move(third()), "+": () => this.zoom(0.5),
        "-": () => this.zoom(2), Home: () => this.show(0, this.source.end) };
      canvas.addEventListener("keydown", (event) => { if (keys[event.key]) { keys[event.key](); event.preventDefault(); } });
    }

    point(event) {
      const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      const { tops } = this.place(), number = tops.findIndex((top) => y >= top && y < top + ROW);
      this.tip.hidden = number < 0;
      if (number < 0) return;
      this.tip.replaceChildren(...this.describe(this.source.rows[number], this.timeAt(x)).map((line) => Object.assign(document.createElement("div"), { textContent: line })));
      const side = Math.min(x + 14, this.canvas.clientWidth - this.tip.offsetWidth);
      this.tip.style.transform = `translate(${Math.max(0, side)}px, ${this.canvas.offsetTop + y + 18}px)`;
    }

    // Lines about a row at a time: the segment there, or what the time of the pixel is made of.
    describe(row, time) {
      const pixel = (this.end - this.begin) / this.width, i = firstAfter(row, time), { kinds } = this.source;
      const inside = i < row.count && row.start[i] <= time;
      if (inside && !row.cell && row.end[i] - row.start[i] > pixel) {
        const step = row.step[i] > 0 ? `, step ${row.step[i]}` : "", size = row.size[i] > 0 ? `, ${bytes(row.size[i])}` : "";
        return [row.detail, `${kinds[row.kind[i]].label}: ${duration(row.end[i] - row.start[i])}${step}${size}`];
      }
      const cell = Math.max(pixel, row.cell), shares = sharesOf(row, time - cell / 2, time + cell / 2, 1, kinds.length);
      const parts = this.order.filter((kind) => shares[kind] > 0).map((kind) => `${kinds[kind].label} ${number(100 * shares[kind], 2)} %`);
      return [row.detail, parts.length ? `of ${duration(cell)}: ${parts.join(", ")}` : "nothing"];
    }

    draw() {
      const canvas = this.canvas, ratio = window.devicePixelRatio || 1, { tops, bottom, height } = this.place();
      if (!canvas.clientWidth || this.width < 20) return;
      canvas.width = Math.round(canvas.clientWidth * ratio); canvas.height = Math.round(height * ratio);
      const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
      this.color = (name) => style.getPropertyValue(name).trim();
      context.font = `${12}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
      this.paintRows(context, ratio, tops);
      context.scale(ratio, ratio);
      this.paintLabels(context, tops);
      this.paintAxis(context, bottom);
      this.paintClock(context);
      if (this.drag && !this.drag.pan) {
        context.fillStyle = this.color("--text"); context.globalAlpha = 0.15;
        context.fillRect(Math.min(this.drag.from, this.drag.last), TOP, Math.abs(this.drag.last - this.drag.from), bottom - TOP);
        context.globalAlpha = 1;
      }
    }

    paintRows(context, ratio, tops) {
      const columns = Math.round(this.width * ratio), rows = Math.round(ROW * ratio), empty = packed(this.color("--panel"));
      this.source.rows.forEach((row, number) => {
        const image = context.createImageData(columns, rows), pixels = new Uint32Array(image.data.buffer).fill(empty);
        const shares = sharesOf(row, this.begin, this.end, columns, this.colors.length);
        for (let column = 0; column < columns; column++) {
          let sum = 0, from = 0;
          for (const kind of this.order) {
            const share = shares[kind * columns + column];
            if (!share) continue;
            sum += share;
            const to = Math.min(rows, Math.max(from + 1, Math.round(sum * rows)));  // what is there is at least a pixel high
            for (let y = from; y < to; y++) pixels[(rows - 1 - y) * columns + column] = this.colors[kind];
            from = to;
          }
        }
        context.putImageData(image, Math.round(this.left * ratio), Math.round(tops[number] * ratio));
        this.paintEdges(context, ratio, row, tops[number]);
      });
    }

    // Lines between segments that are wide enough to be distinguished.
    paintEdges(context, ratio, row, top) {
      if (row.cell) return;
      const scale = this.width / (this.end - this.begin);
      context.fillStyle = this.color("--ground");
      for (let i = firstAfter(row, this.begin), last = 0; i < row.count && row.start[i] < this.end; i++) {
        const x = (row.start[i] - this.begin) * scale, wide = (row.end[i] - row.start[i]) * scale;
        if (wide > 7 && x - last > 3 && x > 0) context.fillRect(Math.round((this.left + x) * ratio), top * ratio, 1, ROW * ratio);
        last = x;
      }
    }

    paintLabels(context, tops) {
      context.textBaseline = "middle"; context.textAlign = "right";
      this.source.rows.forEach((row, number) => {
        context.fillStyle = this.color(row.indent ? "--muted" : "--text");
        context.fillText(this.fit(context, row.name), this.left - 8, tops[number] + ROW / 2 + 1);
      });
    }

    fit(context, text) {
      if (context.measureText(text).width <= this.left - 10) return text;
      while (text.length > 3 && context.measureText(`${text}…`).width > this.left - 10) text = text.slice(0, -1);
      return `${text}…`;
    }

    paintAxis(context, bottom) {
      const span = this.end - this.begin, rough = span / Math.max(2, this.width / 110), power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
      const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      context.fillStyle = context.strokeStyle = this.color("--muted"); context.textBaseline = "top"; context.textAlign = "center";
      for (let tick = Math.ceil(this.begin / step); tick * step <= this.end; tick++) {
        const x = this.left + (tick * step - this.begin) / span * this.width;
        context.fillRect(x, bottom, 1, 4); context.fillText((tick * step).toFixed(decimals), x, bottom + 6);
      }
      context.textAlign = "right"; context.fillText("time since the start [s]", this.left + this.width, bottom + 20);
    }

    // How far the clocks of two ranks may be apart, where that can be seen.
    paintClock(context) {
      const wide = 2 * this.source.clockError * this.width / (this.end - this.begin);
      if (wide < 3 || wide > this.width) return;
      const text = `clocks ± ${duration(this.source.clockError)}`, right = this.left + this.width;
      context.fillStyle = this.color("--muted"); context.textBaseline = "middle"; context.textAlign = "right";
      context.fillRect(right - wide, TOP / 2, wide, 1); context.fillRect(right - wide, 3, 1, TOP - 6); context.fillRect(right - 1, 3, 1, TOP - 6);
      context.fillText(text, right - wide - 6, TOP / 2);
    }
  }

  const start = async (element) => {
    const id = element.dataset.source;
    if (!decoded.has(id)) decoded.set(id, decode(JSON.parse(document.getElementById(id).textContent)));
    return new View(element, await decoded.get(id));
  };
  return { start };
})();
