// The view of one run: its rounds as they arrive, why it stopped, and its report.

import * as api from "./api.js";
import { bulletList, byId, element, formatNumber, parseDocument, pluralize } from "./dom.js";
import * as whatif from "./whatif.js";

const SHOWN_READINGS = ["worth.p", "novelty.words", "overlap.jaccard", "overlap.upr", "question.residual", "sufficiency.model"];
let current = null;

export function leave() {
  current?.abort();
  current = null;
}

export async function show(id) {
  leave();
  const control = (current = new AbortController());
  clear(id);
  whatif.open(id);
  for await (const event of api.events(`/jobs/${id}/events`, control.signal)) {
    if (control.signal.aborted) return;
    handlers[event.type]?.(event, id);
  }
  if (!control.signal.aborted) await finish(id);
}

function clear(id) {
  byId("run-id").textContent = id;
  byId("run-title").textContent = "";
  byId("rounds").replaceChildren();
  byId("report").replaceChildren();
  byId("draft").hidden = true;
  byId("draft-text").textContent = "";
  byId("live").hidden = false;
  setStatus("Waiting in the queue …");
  const cancel = byId("cancel");
  cancel.hidden = false;
  cancel.disabled = false;
  cancel.onclick = async () => {
    cancel.disabled = true;
    setStatus("Stopping …");
    await api.remove(`/jobs/${id}`);
  };
}

const setStatus = (text) => (byId("status").textContent = text);

const handlers = {
  started(event) {
    byId("run-title").textContent = event.task;
    document.title = `${event.task.slice(0, 60)} · suffice`;
    whatif.showGate(event.gate);
    setStatus(`Started with ${event.model}, ${event.strategy}. Stop gate: ${event.gate}`);
  },
  searching(event) {
    setStatus(`Round ${event.index}: searching …`);
    byId(`round-${event.index}`)?.remove();
    const queries = bulletList(event.queries, "queries searching");
    byId("rounds").append(element("li", { id: `round-${event.index}` }, heading(event), queries));
  },
  round(event) {
    const item = element("li", { id: `round-${event.index}`, className: event.accepted ? "" : "rejected" });
    const fresh = event.passages.filter((passage) => passage.new);
    item.append(
      heading(event),
      bulletList(event.queries, "queries"),
      readings(event.readings),
      detailsList(pluralize(fresh.length, "new passage"), fresh.map(passage)),
    );
    const { notes = [], open = [] } = event.belief ?? {};
    if (notes.length) item.append(detailsList("Notes so far", notes.map((note) => `${note.text} ${note.handles.join(" ")}`)));
    if (open.length) item.append(detailsList(pluralize(open.length, "open question"), open, true));
    item.append(element("p", { className: "verdict-line" }, verdict(event)));
    const old = byId(item.id);
    if (old) old.replaceWith(item);
    else byId("rounds").append(item);
    setStatus(`Round ${event.index} found ${pluralize(fresh.length, "new passage")}.`);
    whatif.refresh();
  },
  failed(event) {
    setStatus(`${event.failure.where}: ${event.failure.message}`);
  },
  stopped(event) {
    setStatus(event.stop.explanation);
  },
  writing(event) {
    setStatus(`Writing from ${pluralize(event.passages, "passage")} …`);
  },
  drafting(event) {
    byId("draft").hidden = false;
    byId("draft-text").textContent += event.text ?? "";
  },
};

const heading = (event) => element("h3", {}, `Round ${event.index}${event.accepted === false ? ", rejected" : ""}`);

function passage(found) {
  return element("span", {}, found.title || found.id, element("span", { className: "place" }, found.location ?? ""));
}

function detailsList(title, items, open = false) {
  return items.length ? element("details", { open }, element("summary", {}, title), bulletList(items)) : null;
}

function readings(all) {
  const known = SHOWN_READINGS.filter((name) => all[name] !== null && all[name] !== undefined);
  const parts = known.map((name) => element("span", {}, `${name} `, element("b", {}, formatNumber(all[name]))));
  return element("div", { className: "readings" }, ...parts);
}

function verdict(event) {
  const stops = event.verdicts.filter((each) => each.stop).map((each) => `${each.gate}: ${each.because}`);
  return stops.length ? `Stop. ${stops.join("; ")}` : "Continue.";
}

async function finish(id) {
  const job = await api.get(`/jobs/${id}`);
  byId("cancel").hidden = true;
  byId("draft").hidden = true;
  if (job.error) setStatus(job.error.message ?? job.error);
  else setStatus(job.status === "cancelled" ? "This run was stopped." : "");
  if (!job.report) return;
  byId("run-title").textContent = job.report.task;
  const parts = parseDocument(await api.text(`/jobs/${id}/report.html`), "text/html");
  byId("report").replaceChildren(...parts.filter((part) => !part.matches("script, .skip")));
  for (const main of byId("report").querySelectorAll("main")) {  // A page may have only one <main>.
    const plain = document.createElement("div");
    plain.append(...main.childNodes);
    main.replaceWith(plain);
  }
  byId("live").hidden = true;
  whatif.refresh();
}
