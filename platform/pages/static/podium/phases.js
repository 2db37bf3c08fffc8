// The timeline of the studio: bars that are dragged, or moved by keys, write into the fields of dates beside them,
// and follow what is typed there. What is sent is always the fields.
(function () {
  "use strict";

  const MINUTE = 60000;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;
  const SHORTEST = 5 * MINUTE;
  const STEPS = [5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY];
  const SNAP_PIXELS = 6;
  const SVG = "http://www.w3.org/2000/svg";
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

  // What the clocks of a zone show, as the fields hold it, and back.
  class Zone {
    constructor(name) {
      const wanted = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
      this.format = new Intl.DateTimeFormat("en-GB", Object.assign({ timeZone: name }, wanted));
    }

    clock(moment) {
      const got = {};
      this.format.formatToParts(new Date(moment)).forEach((part) => { got[part.type] = part.value; });
      return got.year.padStart(4, "0") + "-" + got.month + "-" + got.day + "T" + got.hour + ":" + got.minute;
    }

    offset(moment) {
      return Date.parse(this.clock(moment) + "Z") - Math.floor(moment / MINUTE) * MINUTE;
    }

    // null for what is no date. A time that clocks jump over becomes one beside it; the site refuses it when typed.
    moment(clock) {
      const there = Date.parse(clock.slice(0, 16) + "Z");
      if (Number.isNaN(there)) return null;
      const before = there - this.offset(there - DAY);
      return this.clock(before) === clock.slice(0, 16) ? before : there - this.offset(before);
    }

    // Whole days are counted on the clock, so that midnight stays midnight when clocks change.
    later(moment, delta) {
      if (delta % DAY !== 0) return moment + delta;
      const there = Date.parse(this.clock(moment) + "Z") + delta;
      return this.moment(new Date(there).toISOString().slice(0, 16));
    }
  }

  class Row {
    constructor(element, zone) {
      this.element = element;
      this.zone = zone;
      this.svg = element.querySelector("svg");
      this.title = this.svg.dataset.title;
      this.bar = element.querySelector("[data-bar]");
      [this.opensField, this.closesField] = element.querySelectorAll("input");
      this.isStill = element.hasAttribute("data-still");
      this.handles = [];
    }

    get opens() { return this.zone.moment(this.opensField.value); }
    get closes() { return this.zone.moment(this.closesField.value); }
    get isWhole() { return this.opens !== null && (this.closesField.value === "" || this.closes > this.opens); }

    set(opens, closes) {
      if (opens !== this.opens) this.opensField.value = this.zone.clock(opens);
      if (closes !== null && closes !== this.closes) this.closesField.value = this.zone.clock(closes);
    }

    addHandles() {
      if (this.isStill || !this.isWhole) return;
      this.bar.classList.add("movable");
      this.bar.dataset.edge = "both";
      this.handles.push(this.bar);
      ["opens", "closes"].forEach((edge) => {
        if (edge === "closes" && this.closesField.value === "") return;
        const handle = document.createElementNS(SVG, "rect");
        // Outside of the bar, so that the ends of a short one stay apart.
        const aside = edge === "opens" ? "translate(-9 0)" : "translate(-1 0)";
        const sizes = { y: 4, width: 10, height: 22, rx: 3, class: "handle", transform: aside };
        Object.entries(sizes).forEach(([name, value]) => handle.setAttribute(name, value));
        handle.dataset.edge = edge;
        this.svg.append(handle);
        this.handles.push(handle);
      });
      this.handles.forEach((handle) => {
        handle.setAttribute("tabindex", "0");
        handle.setAttribute("role", "slider");
      });
    }

    draw(range) {
      const opens = this.opens;
      if (opens === null) return;
      const left = range.percent(opens);
      const right = this.closesField.value === "" ? 100 : range.percent(this.closes === null ? opens : this.closes);
      this.bar.setAttribute("x", left + "%");
      this.bar.setAttribute("width", Math.max(0.6, right - left) + "%");
      const line = this.svg.querySelector("[data-now-line]");
      if (line) ["x1", "x2"].forEach((name) => line.setAttribute(name, range.percent(range.now) + "%"));
      this.handles.forEach((handle) => this.describe(handle, range, left, right));
    }

    describe(handle, range, left, right) {
      const edge = handle.dataset.edge;
      if (edge !== "both") handle.setAttribute("x", (edge === "opens" ? left : right) + "%");
      const words = { both: "all of it", opens: "opens", closes: "closes" };
      const told = (field) => field.value.replace("T", " ") || "never";
      const said = edge === "opens" ? told(this.opensField) : edge === "closes" ? told(this.closesField)
        : told(this.opensField) + " to " + told(this.closesField);
      const moment = edge === "closes" ? this.closes : this.opens;
      handle.setAttribute("aria-label", this.title + ", " + words[edge]);
      handle.setAttribute("aria-valuetext", said);
      handle.setAttribute("aria-valuenow", String(Math.round(moment / HOUR)));
      handle.setAttribute("aria-valuemin", String(Math.floor(range.begin / HOUR)));
      handle.setAttribute("aria-valuemax", String(Math.ceil(range.end / HOUR)));
    }
  }

  // What the picture shows, from the first opening to the last close, with room on both sides.
  class Range {
    constructor(rows, now) {
      const opens = rows.map((row) => row.opens).filter((moment) => moment !== null);
      const ends = rows.map((row) => row.closes).filter((moment) => moment !== null).concat(opens);
      const first = Math.min(...opens);
      const last = Math.max(...ends);
      const room = Math.max(HOUR, (last - first) * 0.06);
      this.now = now;
      this.begin = first - room;
      this.end = last + room * (rows.some((row) => row.closesField.value === "") ? 3 : 1);
    }

    percent(moment) {
      return (100 * (moment - this.begin)) / (this.end - this.begin);
    }

    // At most seven labelled lines: starts of days, or of months.
    ticks(zone) {
      const days = (this.end - this.begin) / DAY;
      const found = [];
      let [year, month, day] = zone.clock(this.begin).slice(0, 10).split("-").map(Number);
      const months = [1, 2, 3, 6, 12, 24, 60, 120].find((count) => days / (30.5 * count) <= 7) || 120;
      const step = days < 60 ? Math.max(1, Math.ceil(days / 7)) : 0;
      for (let tries = 0; tries < 2000; tries += 1) {
        if (step) day += step;
        else [month, day] = [month + 1, 1];
        const date = new Date(Date.UTC(year, month - 1, day));
        [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
        const moment = zone.moment(date.toISOString().slice(0, 16));
        if (moment === null || moment >= this.end) break;
        if (!step && (12 * year + month - 1) % months !== 0) continue;
        found.push([this.percent(moment), step ? day + " " + MONTHS[month - 1] : MONTHS[month - 1] + " " + year]);
      }
      return found;
    }
  }

  class Timeline {
    constructor(form) {
      this.form = form;
      this.zone = new Zone(form.dataset.inZone);
      this.now = Date.parse(form.dataset.now);
      this.rows = Array.from(form.querySelectorAll("[data-row]")).map((element) => new Row(element, this.zone));
      this.axis = form.querySelector("[data-axis]");
      this.along = form.querySelector("[data-along]");
      this.held = null;
    }

    start() {
      const button = this.form.querySelector("[data-put-back]");
      if (!button) {
        this.layOut();
        return; // a reader
      }
      button.hidden = false;
      this.form.querySelector("[data-along-row]").hidden = false;
      this.rows.forEach((row) => row.addHandles());
      this.layOut();
      this.form.addEventListener("pointerdown", (event) => this.take(event));
      this.form.addEventListener("pointermove", (event) => this.drag(event));
      this.form.addEventListener("pointerup", () => this.drop());
      this.form.addEventListener("pointercancel", () => this.putBack());
      this.form.addEventListener("keydown", (event) => this.press(event));
      this.form.addEventListener("change", () => this.layOut());
      this.form.addEventListener("reset", () => setTimeout(() => {
        this.layOut();
        document.getElementById("date-problems").replaceChildren();
      }));
    }

    layOut() {
      this.range = new Range(this.rows, this.now);
      const ticks = this.range.ticks(this.zone);
      this.rows.forEach((row) => {
        const grid = row.svg.querySelector("[data-grid]");
        grid.replaceChildren(...ticks.map(([left]) => this.made("line", { class: "tick", x1: left + "%", x2: left + "%", y1: 0, y2: 30 })));
        row.draw(this.range);
      });
      this.axis.replaceChildren(...ticks.map(([left, label]) => {
        const text = this.made("text", { x: left + "%", y: 13, "text-anchor": "middle" });
        text.textContent = label;
        return text;
      }));
    }

    made(name, attributes) {
      const element = document.createElementNS(SVG, name);
      Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
      return element;
    }

    rowOf(handle) {
      return this.rows.find((row) => row.handles.includes(handle));
    }

    shot() {
      return new Map(this.rows.map((row) => [row, { opens: row.opens, closes: row.closes, fields: [row.opensField.value, row.closesField.value] }]));
    }

    take(event) {
      const row = this.rowOf(event.target);
      if (!row || event.button !== 0 || !row.isWhole) return;
      event.preventDefault();
      event.target.focus();
      event.target.setPointerCapture(event.pointerId);
      const perPixel = (this.range.end - this.range.begin) / row.svg.getBoundingClientRect().width;
      this.held = { row: row, edge: event.target.dataset.edge, from: event.clientX, perPixel: perPixel, before: this.shot(), delta: 0 };
      this.form.classList.add("dragging");
    }

    drag(event) {
      if (!this.held) return;
      const raw = (event.clientX - this.held.from) * this.held.perPixel;
      const step = event.shiftKey ? 15 * MINUTE : STEPS.find((one) => one >= this.held.perPixel * 2) || 7 * DAY;
      const delta = this.snapped(raw) ?? Math.round(raw / step) * step;
      if (delta === this.held.delta) return;
      this.held.delta = delta;
      this.apply(this.held, delta);
      this.rows.forEach((row) => row.draw(this.range));
    }

    // The move that brings the edge to where another phase opens or closes, if that is near.
    snapped(raw) {
      const { row, edge, before, perPixel } = this.held;
      const own = before.get(row);
      const edges = (edge === "both" ? [own.opens, own.closes] : [own[edge]]).filter((moment) => moment !== null);
      let best = null;
      before.forEach((other, otherRow) => {
        if (otherRow === row || this.follows(other, own)) return;
        [other.opens, other.closes].forEach((there) => {
          if (there === null) return;
          edges.forEach((edgeMoment) => {
            const miss = Math.abs(there - edgeMoment - raw);
            if (miss < SNAP_PIXELS * perPixel && (best === null || miss < best.miss)) best = { miss: miss, delta: there - edgeMoment };
          });
        });
      });
      return best === null ? null : best.delta;
    }

    follows(other, own) {
      return this.along.checked && own.closes !== null && other.opens !== null && other.opens >= own.closes;
    }

    apply(held, delta) {
      const own = held.before.get(held.row);
      const moved = (moment) => (moment === null ? null : this.zone.later(moment, delta));
      let opens = held.edge === "closes" ? own.opens : moved(own.opens);
      let closes = held.edge === "opens" ? own.closes : moved(own.closes);
      if (closes !== null && held.edge === "opens") opens = Math.min(opens, closes - SHORTEST);
      if (closes !== null && held.edge === "closes") closes = Math.max(closes, opens + SHORTEST);
      held.row.set(opens, closes);
      this.rows.forEach((row) => {
        if (row === held.row || row.isStill) return;
        const before = held.before.get(row);
        if (held.edge !== "opens" && this.follows(before, own)) row.set(moved(before.opens), moved(before.closes));
        else [row.opensField.value, row.closesField.value] = before.fields;
      });
    }

    drop() {
      if (!this.held) return;
      this.form.classList.remove("dragging");
      const changed = this.held.delta !== 0;
      const handle = this.held.row.handles.find((one) => one.dataset.edge === this.held.edge);
      this.held = null;
      this.layOut();
      handle.focus();
      if (changed) this.tell();
    }

    putBack() {
      if (!this.held) return;
      this.held.before.forEach((before, row) => { [row.opensField.value, row.closesField.value] = before.fields; });
      this.held = null;
      this.form.classList.remove("dragging");
      this.layOut();
    }

    press(event) {
      if (event.key === "Escape" && this.held) {
        this.putBack();
        return;
      }
      const row = this.rowOf(event.target);
      const isLong = this.range.end - this.range.begin > 10 * DAY;
      const steps = {
        ArrowLeft: event.shiftKey ? -HOUR : isLong ? -DAY : -HOUR,
        ArrowDown: event.shiftKey ? -HOUR : isLong ? -DAY : -HOUR,
        ArrowRight: event.shiftKey ? HOUR : isLong ? DAY : HOUR,
        ArrowUp: event.shiftKey ? HOUR : isLong ? DAY : HOUR,
        PageDown: isLong ? -7 * DAY : -DAY,
        PageUp: isLong ? 7 * DAY : DAY,
      };
      if (!row || this.held || !row.isWhole || !(event.key in steps)) return;
      event.preventDefault();
      this.apply({ row: row, edge: event.target.dataset.edge, before: this.shot() }, steps[event.key]);
      this.layOut();
      this.tell();
    }

    // The site says what stands against the new dates.
    tell() {
      this.form.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form[data-phases]").forEach((form) => new Timeline(form).start());
  });
})();
