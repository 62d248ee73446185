// Another gate over the same run: move a threshold and see where it would have stopped and what it would have missed.

import * as api from "./api.js";
import { byId, count, drawn, element } from "./show.js";

let run = null;
let gates = [];
let waiting = 0;
let latest = 0;

export function prepare(parts) {
  gates = parts.gates;
  byId("gate").replaceChildren(...gates.map((gate) => element("option", { value: gate.name }, gate.name)));
  byId("gate").value = gates.some((gate) => gate.name === "worth") ? "worth" : gates[0]?.name;
  byId("gate").onchange = choose;
  byId("expression").oninput = soon;
}

export function begin(id) {
  run = id;
  byId("whatif").hidden = true;
  choose();
}

// While a run goes on, the chart shows the gate it really has.
export function own(expression) {
  byId("expression").value = expression;
}

export function refresh() {
  byId("whatif").hidden = false;
  soon();
}

function choose() {
  const gate = gates.find((each) => each.name === byId("gate").value);
  if (!gate) return;
  byId("dials").replaceChildren(...gate.dials.map(field));
  compose();
}

function field(dial) {
  const id = `dial-${dial.name}`;
  const shown = element("output", { htmlFor: id }, String(dial.usual));
  const slider = element("input", { id, name: dial.name, type: "range", min: dial.low, max: dial.high, step: dial.step });
  slider.value = dial.usual;
  slider.oninput = () => {
    shown.textContent = slider.value;
    compose();
  };
  return element("label", { htmlFor: id }, dial.name, shown, slider);
}

function compose() {
  const name = byId("gate").value;
  const fields = [...byId("dials").querySelectorAll("input")];
  const given = fields.map((each) => `${each.name}=${each.value}`).join(", ");
  byId("expression").value = given ? `${name}(${given})` : name;
  soon();
}

function soon() {
  clearTimeout(waiting);
  if (run && !byId("whatif").hidden) waiting = setTimeout(judge, 150);
}

async function judge() {
  const expression = byId("expression").value.trim();
  const number = ++latest;
  if (!expression) return;
  const width = byId("whatif-chart").clientWidth < 560 ? 350 : 760;
  try {
    const [found] = (await api.post("/replay", { run, stop: [expression], chart: width })).gates;
    if (number !== latest) return;
    byId("whatif-said").textContent = found.words;
    byId("whatif-chart").replaceChildren(...(found.chart ? drawn(found.chart) : []));
    const missed = byId("missed");
    missed.hidden = !found.missed.length;
    missed.querySelector("summary").textContent = `${count(found.missed.length, "passage")} it would have missed`;
    missed.querySelector("ul").replaceChildren(
      ...found.missed.map((hit) =>
        element("li", { dir: "auto" }, hit.title || hit.id, hit.cited ? element("b", {}, " (cited)") : null)),
    );
  } catch (error) {
    if (number !== latest) return;
    byId("whatif-said").textContent = error.message;
    byId("whatif-chart").replaceChildren();
    byId("missed").hidden = true;
  }
}
