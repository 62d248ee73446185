// Try another gate on a recorded run: where it would have stopped, and which passages it would have missed.

import * as api from "./api.js";
import { byId, element, parseDocument, pluralize } from "./dom.js";

let run = null;
let gates = [];
let timer = 0;
let latestRequest = 0;

export function prepare(parts) {
  gates = parts.gates;
  const several = element("option", { value: "", disabled: true }, "as written below");
  byId("gate").replaceChildren(several, ...gates.map((gate) => element("option", { value: gate.name }, gate.name)));
  byId("gate").onchange = choose;
  byId("expression").oninput = follow;
}

export function open(id) {
  run = id;
  byId("whatif").hidden = true;
  byId("whatif").open = false;
  showGate("worth");
}

// While a run goes on, the chart shows the run's own gate.
export function showGate(expression) {
  byId("expression").value = expression;
  follow();
}

// Show the section inside the report's explanation of the stop; its chart is drawn when it is unfolded.
export function attach(why, rounds) {
  byId("whatif").hidden = !rounds;
  if (!rounds) return;
  why.append(byId("whatif"));
  byId("whatif").ontoggle = schedule;
}

function choose() {
  const gate = gates.find((each) => each.name === byId("gate").value);
  const given = gate.dials.map((dial) => `${dial.name}=${dial.usual}`).join(", ");
  showGate(given ? `${gate.name}(${given})` : gate.name);
}

// Return the known gates of an expression, each with its place and its settings.
function findCalls() {
  const calls = [];
  for (const found of byId("expression").value.matchAll(/([a-z]\w*)(?:\(([^()]*)\))?/gi)) {
    const gate = gates.find((each) => each.name === found[1]);
    if (!gate) continue;
    const given = (found[2] ?? "").split(",").map((part) => part.split("=").map((word) => word.trim()));
    const values = given.filter(([name]) => name).map(([name, value], at) => (value === undefined ? [gate.dials[at]?.name, name] : [name, value]));
    calls.push({ gate, start: found.index, end: found.index + found[0].length, values: new Map(values) });
  }
  return calls;
}

// Show the rule and the sliders of the expression.
function follow() {
  const calls = findCalls();
  byId("gate").value = calls.length === 1 ? calls[0].gate.name : "";
  byId("dials").replaceChildren(...calls.flatMap((call, at) => call.gate.dials
    .filter((dial) => calls.length === 1 || call.values.has(dial.name) || call.gate.dials.length === 1)
    .map((dial) => slider(dial, call, at, calls.length > 1 ? `${call.gate.name}: ` : ""))));
  schedule();
}

function slider(dial, call, at, prefix) {
  const id = `dial-${prefix ? `${at}-` : ""}${dial.name}`;
  const value = call.values.get(dial.name) ?? dial.usual;
  const shown = element("output", { htmlFor: id }, String(value));
  const input = element("input", { id, name: dial.name, type: "range", min: dial.low, max: dial.high, step: dial.step });
  input.value = value;
  input.oninput = () => {
    shown.textContent = input.value;
    write(at, dial.name, input.value);
  };
  return element("label", { htmlFor: id }, prefix, dial.name, shown, input);
}

// Write the value of a slider into its gate of the expression.
function write(at, name, value) {
  const { gate, start, end, values } = findCalls()[at];
  values.set(name, value);
  const given = [...values].map((pair) => pair.join("=")).join(", ");
  const text = byId("expression").value;
  byId("expression").value = `${text.slice(0, start)}${gate.name}(${given})${text.slice(end)}`;
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (run && byId("whatif").open) timer = setTimeout(judge, 150);
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
