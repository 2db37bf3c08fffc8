// Draws the figures of a page by Vega when they come into view, in the page's own colours, as wide as the page is.
// `ast` lets Vega's own interpreter evaluate expressions: the site's policy forbids that text becomes code.

const SMALL = 560; // pixels of a picture below which legends go under it and pictures below each other
const GAP = 70; // what axes and labels of a picture among others take
const SMALLEST = 150;
const drawn = new Map(); // figure -> { view, width }

// The colours of the style sheet at this moment; --names in the look become what they are.
function coloured(look) {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = "var(" + name + ")";
    return window.getComputedStyle(probe).color;
  };
  const put = (value) => {
    if (Array.isArray(value)) return value.map(put);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, put(one)]));
    return typeof value === "string" && value.startsWith("--") ? colour(value) : value;
  };
  const found = put(look);
  probe.remove();
  return found;
}

function configured(look, width) {
  const config = coloured(look);
  if (width < SMALL) {
    config.legend = { ...config.legend, orient: "bottom", columns: 2, labelLimit: width / 2 - 40, titleLimit: width - 40, layout: { bottom: { direction: "vertical" } } };
    config.axis = { ...config.axis, labelLimit: Math.round(width * 0.32), titleLimit: width - 60 };
    config.axisX = { ...config.axisX, tickCount: 5 };
    config.header = { ...config.header, labelLimit: width - 60 };
  }
  return config;
}

const isFree = (width) => width === undefined || width === "container";
const isFaceted = (spec) => Boolean(spec.facet || (spec.encoding && (spec.encoding.row || spec.encoding.column || spec.encoding.facet)));

// A width for every picture that has none of its own; those side by side share it, or go below each other.
function fitted(spec, width) {
  if (spec.hconcat && width < SMALL) return fitted({ ...spec, vconcat: spec.hconcat, hconcat: undefined }, width);
  const beside = spec.hconcat || (spec.concat && spec.concat.slice(0, spec.columns || spec.concat.length));
  if (spec.hconcat || spec.concat || spec.vconcat) {
    const kind = spec.hconcat ? "hconcat" : spec.concat ? "concat" : "vconcat";
    const count = beside ? Math.min(beside.length, Math.max(1, Math.floor(width / 240))) : 1;
    const share = Math.floor(width / count) - GAP;
    const more = kind === "concat" ? { columns: count } : {};
    return { ...spec, ...more, [kind]: spec[kind].map((one) => sized(one, share)) };
  }
  if (isFaceted(spec)) return facetted(spec, width);
  return isFree(spec.width) ? { ...spec, width } : spec;
}

// A picture is drawn as wide as its place; what its labels take beside it is known only then, and taken off.
async function narrowed(view, place, spec, again) {
  const over = place.scrollWidth - place.clientWidth;
  if (over <= 0) return view;
  if (isFaceted(spec) || spec.hconcat || spec.concat || spec.vconcat) return again(over);
  if (isFree(spec.width)) await view.width(Math.max(SMALLEST, view.width() - over - 1)).runAsync();
  const still = place.scrollWidth - place.clientWidth; // labels that hang over move with it
  if (isFree(spec.width) && still > 0) await view.width(Math.max(SMALLEST, view.width() - still)).runAsync();
  return view;
}

function sized(one, width) {
  return isFree(one.width) || one.width > width ? { ...one, width: Math.max(width, SMALLEST) } : one;
}

function facetted(spec, width) {
  const encoded = spec.encoding && spec.encoding.facet;
  const asked = (encoded && encoded.columns) || spec.columns;
  const columns = Math.max(1, Math.min(asked || 3, Math.floor(width / 210)));
  const inside = spec.spec || spec;
  const share = Math.max(SMALLEST - 30, Math.floor((width - 60) / columns) - 24);
  const size = isFree(inside.width) ? { width: share } : {};
  if (encoded) return { ...spec, ...size, encoding: { ...spec.encoding, facet: { ...encoded, columns } } };
  if (spec.facet && spec.facet.field) return { ...spec, columns, spec: { ...inside, ...size } };
  return spec.spec ? { ...spec, spec: { ...inside, ...size } } : { ...spec, ...size };
}

const tip = document.createElement("div");
tip.className = "chart-tip";
tip.hidden = true;

function showTip(handler, event, item, value) {
  if (value === null || value === undefined || value === "") {
    tip.hidden = true;
    return;
  }
  const list = document.createElement("dl");
  Object.entries(typeof value === "object" ? value : { "": value }).forEach(([name, text]) => {
    const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    meaning.textContent = text === null || text === undefined ? "none" : String(text);
    list.append(term, meaning);
  });
  tip.replaceChildren(list);
  tip.hidden = false;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = event.clientX + 14 + width > window.innerWidth ? event.clientX - width - 10 : event.clientX + 14;
  const top = event.clientY + 16 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 16;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, top) + "px";
}

// Nothing that a figure says is fetched or followed.
const nothing = {
  load: () => Promise.reject(new Error("figures load nothing")),
  sanitize: () => Promise.reject(new Error("figures lead nowhere")),
};

async function draw(figure) {
  const place = figure.querySelector("[data-picture]");
  const width = place.clientWidth;
  if (!width) return; // it is inside of something closed
  forget(figure);
  drawn.set(figure, { view: null, width });
  figure.dataset.state = "waits";
  try {
    const spec = JSON.parse(figure.querySelector("[data-spec]").textContent);
    const config = configured(JSON.parse(document.querySelector("[data-look]").textContent), width);
    const options = { mode: "vega-lite", ast: true, renderer: "canvas", config, actions: false, defaultStyle: false, tooltip: showTip, loader: nothing };
    const within = async (room) => {
      const { view } = await window.vegaEmbed(place, fitted(spec, room), options);
      forget(figure);
      drawn.set(figure, { view, width });
      return view;
    };
    await narrowed(await within(width - 2), place, spec, (over) => within(width - 2 - over));
    settle(figure, place);
  } catch (problem) {
    place.textContent = "This browser could not draw the picture; its files below have it.";
    figure.dataset.state = "failed";
    throw problem;
  }
}

function settle(figure, place) {
  const inside = place.querySelector(".marks");
  inside.setAttribute("aria-hidden", "true"); // the sentence says it
  if (place.scrollWidth > place.clientWidth + 1) place.tabIndex = 0;
  else place.removeAttribute("tabindex");
  figure.dataset.state = "drawn";
}

function forget(figure) {
  const known = drawn.get(figure);
  if (known && known.view) known.view.finalize();
  drawn.delete(figure);
}

// Those in sight at once, the others when they come into sight.
function redraw(figures) {
  figures.forEach((figure) => {
    forget(figure);
    if (!figure.isConnected) return;
    figure.dataset.state = "waits";
    sight.observe(figure);
  });
}

function redrawAll() {
  redraw(Array.from(drawn.keys()));
}

let waiting = 0;
const widths = new ResizeObserver((entries) => {
  const changed = entries.some(({ target }) => {
    const known = drawn.get(target.closest("[data-figure]"));
    return known && known.width !== target.clientWidth;
  });
  if (!changed) return;
  window.clearTimeout(waiting);
  waiting = window.setTimeout(() => {
    const width = (figure) => figure.querySelector("[data-picture]").clientWidth;
    redraw(Array.from(drawn.keys()).filter((figure) => drawn.get(figure).width !== width(figure)));
  }, 150);
});

const sight = new IntersectionObserver((entries) => {
  entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
    sight.unobserve(target);
    widths.observe(target.querySelector("[data-picture]"));
    draw(target);
  });
}, { rootMargin: "300px" });

function watch(root) {
  root.querySelectorAll("[data-figure]:not([data-state])").forEach((figure) => {
    figure.dataset.state = "waits";
    sight.observe(figure);
  });
}

document.body.append(tip);
watch(document);
document.addEventListener("htmx:afterSwap", () => watch(document));
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true, capture: true });
new MutationObserver(redrawAll).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
