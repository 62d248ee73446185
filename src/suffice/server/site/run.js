// The view of one run: its progress, its report, and a follow-up question.

import * as api from "./api.js";
import { chosenSettings, start } from "./ask.js";
import { bulletList, byId, element, parseDocument, pluralize } from "./dom.js";
import * as exports from "./export.js";
import * as reader from "./reader.js";
import * as whatif from "./whatif.js";

const MAX_SHOWN_QUERY = 120;
const MAX_SHOWN_PASSAGE = 280;
let current = null;
let shownRun = null;
let began = 0;
setInterval(showElapsed, 1000);

export function prepare(showError) {
  byId("follow").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = byId("follow-question").value;
    start({ question, options: { ...chosenSettings(), continues: shownRun } }, event.target, showError);
  });
}

export function leave() {
  current?.abort();
  current = null;
  setStatus("", false);
}

export async function show(id) {
  leave();
  const control = (current = new AbortController());
  clear(id);
  whatif.open(id);
  showQuestion(id, control.signal);
  for await (const event of api.events(`/jobs/${id}/events`, control.signal)) {
    if (control.signal.aborted) return;
    handlers[event.type]?.(event, id);
  }
  if (!control.signal.aborted) await finish(id, control.signal);
}

// The question is known before the first event: a run may wait for its turn.
async function showQuestion(id, signal) {
  const { task, waiting, created } = await api.get(`/jobs/${id}`).catch(() => ({}));
  if (created && !signal.aborted) began = Date.parse(created);
  if (task && !signal.aborted && !byId("run-title").textContent) showTitle(task);
  if (waiting && !signal.aborted) setStatus(`${waiting}.`);
}

function clear(id) {
  shownRun = id;
  byId("run-id").textContent = id;
  byId("run-title").textContent = "";
  byId("earlier").hidden = true;
  byId("rounds").replaceChildren();
  byId("view-run").append(byId("whatif"));  // It lies inside the report that is removed now.
  byId("report").replaceChildren();
  byId("after").hidden = true;
  byId("follow-question").value = "";
  byId("draft").hidden = true;
  byId("draft-text").textContent = "";
  byId("draft").before(byId("live"));
  byId("live").hidden = false;
  byId("live-title").className = "quiet";
  byId("live-title").textContent = "Progress";
  began = Date.now();
  setStatus("Starting …");
  const cancel = byId("cancel");
  cancel.hidden = false;
  cancel.disabled = false;
  cancel.onclick = async () => {
    cancel.disabled = true;
    setStatus("Stopping, and writing down what was found …");
    await api.remove(`/jobs/${id}`);
  };
}

function setStatus(text, isRunning = true) {
  byId("status").textContent = text;
  byId("view-run").classList.toggle("is-running", isRunning && Boolean(text));
  showElapsed();
}

// Something moves as long as the run goes on, also for people who want no animation.
function showElapsed() {
  const isRunning = byId("view-run").classList.contains("is-running");
  byId("elapsed").textContent = isRunning ? `${Math.max(0, Math.round((Date.now() - began) / 1000))} s` : "";
}

function showTitle(asked) {
  const task = asked.replace(/ \(after: [^]*\)$/, "");
  byId("run-title").textContent = task;
  document.title = `${task.slice(0, 60)} · suffice`;
}

const handlers = {
  started(event) {
    showTitle(event.task);
    whatif.showGate(event.gate);
    setStatus("Thinking about where to begin …");
  },
  continued(event) {
    const link = byId("earlier").querySelector("a");
    link.textContent = event.earlier.task || event.earlier.run;
    link.href = `#/runs/${event.earlier.run}`;
    byId("earlier").hidden = false;
  },
  searching(event) {
    setStatus(`Searching, round ${event.index} …`);
    byId(`round-${event.index}`)?.remove();
    byId("rounds").append(element("li", { id: `round-${event.index}` }, heading(event), queries(event)));
  },
  round(event) {
    const fresh = event.passages.filter((passage) => passage.new);
    const { notes = [], open = [] } = event.belief ?? {};
    const item = element("li", { id: `round-${event.index}`, className: event.accepted ? "" : "rejected" },
      heading(event),
      queries(event),
      element("p", { className: "hint" }, outcome(event, fresh.length)),
      detailsList("What was found", fresh.map(passage), "found"),
      detailsList("Notes so far", notes.map((note) => `${note.text} ${note.handles.join(" ")}`)),
      detailsList(pluralize(open.length, "open question"), open));
    const old = byId(item.id);
    if (old) old.replaceWith(item);
    else byId("rounds").append(item);
    setStatus("Deciding whether to search on …");
  },
  failed(event) {
    setStatus(`A step failed and the run goes on: ${event.failure.message}`);
  },
  stopped() {
    setStatus("The search has ended; choosing what to show …");
  },
  writing(event) {
    setStatus(`Writing the answer from ${pluralize(event.passages, "passage")} …`);
  },
  drafting(event) {
    const text = byId("draft-text");
    byId("draft").hidden = false;
    text.textContent = event.text ? text.textContent + event.text : "";
  },
  checking(event) {
    setStatus(`Checking a statement against its source: ${shorten(event.claim)}`);
  },
  reviewed() {
    setStatus("Reviewing the answer …");
  },
};

const shorten = (text, limit = MAX_SHOWN_QUERY) => (text.length > limit ? `${text.slice(0, limit)}…` : text);

const unused = (event) => (event.accepted === false ? ", not used" : "");

const heading = (event) => element("h3", {}, `Round ${event.index}${unused(event)}`);

const queries = (event) => bulletList(event.queries.map((query) => shorten(query)), "queries");

const passage = (found) =>
  element("span", {}, found.title || found.id, element("span", { className: "place" }, found.location ?? ""),
    element("blockquote", {}, shorten(found.text.replace(/^#+ /gm, ""), MAX_SHOWN_PASSAGE)));

const detailsList = (title, items, className) =>
  items.length ? element("details", { className }, element("summary", {}, title), bulletList(items)) : null;

function outcome(event, fresh) {
  const found = fresh ? `Found ${pluralize(fresh, "new passage")}` : "Found nothing new";
  return `${found}${event.verdicts.some((each) => each.stop) ? "; that is enough" : ""}.`;
}

async function finish(id, signal) {
  const job = await api.get(`/jobs/${id}`);
  if (signal.aborted) return;
  byId("cancel").hidden = true;
  byId("draft").hidden = true;
  showTitle(job.task);
  if (job.error) setStatus(`This run failed: ${job.error.message ?? job.error}`, false);
  else if (job.status === "cancelled") setStatus(job.report ? "You stopped this run." : "You stopped this run before it found anything.", false);
  else setStatus("", false);
  const isStopped = job.status === "cancelled" && !job.report?.final_answer && byId("rounds").querySelector("details.found");
  if (isStopped) showFound();
  if (!job.report) return;
  const parts = parseDocument(await api.text(`/jobs/${id}/report.html`), "text/html");
  if (signal.aborted) return;
  byId("report").replaceChildren(...parts.filter((part) => !part.matches("script, .skip")));
  for (const main of byId("report").querySelectorAll("main")) {  // A page may have only one <main>.
    const plain = document.createElement("div");
    plain.append(...main.childNodes);
    main.replaceWith(plain);
  }
  byId("live").hidden = !isStopped;
  byId("after").hidden = false;
  exports.show(job);
  reader.attach(byId("report"), id);
  whatif.attach(byId("report").querySelector("#why"), job.report.stop.rounds.length);
}

// A run that was stopped has no answer, but it has passages.
function showFound() {
  byId("report").after(byId("live"));
  byId("live-title").className = "";
  byId("live-title").textContent = "What was found before you stopped it";
  byId("rounds").querySelector("details.found").open = true;
}
