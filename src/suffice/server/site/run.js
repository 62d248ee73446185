// One run: its rounds as they arrive, its stop, its report.

import * as api from "./api.js";
import { byId, count, drawn, element, list, rounded } from "./show.js";
import * as whatif from "./whatif.js";

const TELLING = ["worth.p", "novelty.words", "overlap.jaccard", "overlap.upr", "question.residual", "sufficiency.model"];
let watching = null;

export function leave() {
  watching?.abort();
  watching = null;
}

export async function show(id) {
  leave();
  const control = (watching = new AbortController());
  clear(id);
  whatif.begin(id);
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
  say("Waiting for a place in the queue …");
  const cancel = byId("cancel");
  cancel.hidden = false;
  cancel.disabled = false;
  cancel.onclick = async () => {
    cancel.disabled = true;
    say("Stopping …");
    await api.remove(`/jobs/${id}`);
  };
}

const say = (words) => (byId("status").textContent = words);

const handlers = {
  started(event) {
    byId("run-title").textContent = event.task;
    document.title = `${event.task.slice(0, 60)} · suffice`;
    whatif.own(event.gate);
    say(`Begun with ${event.model}, ${event.strategy}. It stops on: ${event.gate}`);
  },
  searching(event) {
    say(`Round ${event.index}: searching …`);
    byId(`round-${event.index}`)?.remove();
    const queries = list(event.queries, "queries searching");
    byId("rounds").append(element("li", { id: `round-${event.index}` }, heading(event), queries));
  },
  round(event) {
    const item = element("li", { id: `round-${event.index}`, className: event.accepted ? "" : "rejected" });
    const fresh = event.passages.filter((passage) => passage.new);
    item.append(
      heading(event),
      list(event.queries, "queries"),
      readings(event.readings),
      opened(count(fresh.length, "new passage"), fresh.map(passage)),
    );
    const { notes = [], open = [] } = event.belief ?? {};
    if (notes.length) item.append(opened("What is believed now", notes.map((note) => `${note.text} ${note.handles.join(" ")}`)));
    if (open.length) item.append(opened(count(open.length, "open question"), open, true));
    item.append(element("p", { className: "verdict-line" }, verdict(event)));
    const old = byId(item.id);
    if (old) old.replaceWith(item);
    else byId("rounds").append(item);
    say(`Round ${event.index} brought ${count(fresh.length, "new passage")}.`);
    whatif.refresh();
  },
  failed(event) {
    say(`${event.failure.where}: ${event.failure.message}`);
  },
  stopped(event) {
    say(event.stop.explanation);
  },
  writing(event) {
    say(`Writing from ${count(event.passages, "passage")} …`);
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

function opened(title, items, open = false) {
  return items.length ? element("details", { open }, element("summary", {}, title), list(items)) : null;
}

function readings(all) {
  const known = TELLING.filter((name) => all[name] !== null && all[name] !== undefined);
  const parts = known.map((name) => element("span", {}, `${name} `, element("b", {}, rounded(all[name]))));
  return element("div", { className: "readings" }, ...parts);
}

function verdict(event) {
  const said = event.verdicts.filter((each) => each.stop).map((each) => `${each.gate}: ${each.because}`);
  return said.length ? `Stop. ${said.join("; ")}` : "Go on.";
}

async function finish(id) {
  const job = await api.get(`/jobs/${id}`);
  byId("cancel").hidden = true;
  byId("draft").hidden = true;
  if (job.error) say(job.error.message ?? job.error);
  else say(job.status === "cancelled" ? "This run was stopped." : "");
  if (!job.report) return;
  byId("run-title").textContent = job.report.task;
  const parts = drawn(await api.text(`/jobs/${id}/report.html`), "text/html");
  byId("report").replaceChildren(...parts.filter((part) => !part.matches("script, .skip")));
  for (const main of byId("report").querySelectorAll("main")) {  // A page has one, and this one has it already.
    const plain = document.createElement("div");
    plain.append(...main.childNodes);
    main.replaceWith(plain);
  }
  byId("live").hidden = true;
  whatif.refresh();
}
