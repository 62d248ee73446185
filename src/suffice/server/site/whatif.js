// Try another gate on a recorded run: where it would have stopped, and which passages it would have missed.

import * as api from "./api.js";
import { byId, element, parseDocument, pluralize } from "./dom.js";

let run = null;
let gates = [];
let timer = 0;
let latestRequest = 0;

export function prepare(parts) {
  gates = parts.gates;
  byId("gate").replaceChildren(...gates.map((gate) => element("option", { value: gate.name }, gate.name)));
  byId("gate").value = gates.some((gate) => gate.name === "worth") ? "worth" : gates[0]?.name;
  byId("gate").onchange = choose;
  byId("expression").oninput = schedule;
}

export function open(id) {
  run = id;
  byId("whatif").hidden = true;
  choose();
}

// While a run goes on, the chart shows the run's own gate.
export function showGate(expression) {
  byId("expression").value = expression;
}

// Show the section inside the report's explanation of the stop; its chart is drawn when that is unfolded.
export function attach(why, rounds) {
  byId("whatif").hidden = !rounds;
  if (!rounds) return;
  why.append(byId("whatif"));
  why.addEventListener("toggle", () => why.open && schedule());
}

function choose() {
  const gate = gates.find((each) => each.name === byId("gate").value);
  if (!gate) return;
  byId("dials").replaceChildren(...gate.dials.map(slider));
  compose();
}

function slider(dial) {
  const id = `dial-${dial.name}`;
  const shown = element("output", { htmlFor: id }, String(dial.usual));
  const input = element("input", { id, name: dial.name, type: "range", min: dial.low, max: dial.high, step: dial.step });
  input.value = dial.usual;
  input.oninput = () => {
    shown.textContent = input.value;
    compose();
  };
  return element("label", { htmlFor: id }, dial.name, shown, input);
}

function compose() {
  const name = byId("gate").value;
  const fields = [...byId("dials").querySelectorAll("input")];
  const given = fields.map((each) => `${each.name}=${each.value}`).join(", ");
  byId("expression").value = given ? `${name}(${given})` : name;
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (run && byId("whatif").checkVisibility()) timer = setTimeout(judge, 150);
}

async function judge() {
  const expression = byId("expression").value.trim();
  const number = ++latestRequest;
  if (!expression) return;
  const width = byId("whatif").clientWidth < 560 ? 350 : 760;
  try {
    const [found] = (await api.post("/replay", { run, stop: [expression], chart: width })).gates;
    if (number !== latestRequest) return;
    byId("whatif-result").textContent = found.words;
    byId("whatif-chart").replaceChildren(...(found.chart ? parseDocument(found.chart) : []));
    const missed = byId("missed");
    missed.hidden = !found.missed.length;
    missed.querySelector("summary").textContent = `${pluralize(found.missed.length, "passage")} it would have missed`;
    missed.querySelector("ul").replaceChildren(
      ...found.missed.map((hit) =>
        element("li", { dir: "auto" }, hit.title || hit.id, hit.cited ? element("b", {}, " (cited)") : null)),
    );
  } catch (error) {
    if (number !== latestRequest) return;
    byId("whatif-result").textContent = error.message;
    byId("whatif-chart").replaceChildren();
    byId("missed").hidden = true;
  }
}
