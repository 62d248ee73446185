// The list of earlier runs: how they ended, a search over their questions, and deleting them.

import * as api from "./api.js";
import { byId, element, pluralize } from "./dom.js";

const STATUS = { queued: "waiting", running: "running", failed: "failed", cancelled: "stopped" };
const ENDING = { answered: "answered", partial: "answered in part", no_evidence: "no answer found", failed: "failed" };
let timer = 0;
let latest = 0;
let fail = null;

export function prepare(showError) {
  fail = showError;
  byId("search").oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(() => show().catch(showError), 200);
  };
  byId("more").onclick = () => show(byId("more").dataset.next).catch(showError);
}

export async function show(cursor = "") {
  const number = ++latest;
  const words = byId("search").value.trim();
  const page = await api.get(`/jobs?${new URLSearchParams({ limit: 20, ...(words && { q: words }), ...(cursor && { cursor }) })}`);
  if (number !== latest) return;
  const items = page.jobs.map(item);
  if (cursor) byId("runs").append(...items);
  else byId("runs").replaceChildren(...items);
  const shown = byId("runs").children.length;
  byId("runs-status").textContent = shown
    ? words ? `${pluralize(shown, "run")}${page.next ? " and more" : ""} with “${words}”` : ""
    : words ? `No question has “${words}”.` : "No runs yet. What you ask appears here.";
  byId("more").hidden = !page.next;
  byId("more").dataset.next = page.next ?? "";
}

function item(job) {
  const ending = STATUS[job.status] ?? ENDING[job.ending];
  const shown = element("li", {},
    element("a", { href: `#/runs/${job.job_id}`, dir: "auto" }, job.task),
    element("p", {}, [formatTime(job.created), ending].filter(Boolean).join(" · ")));
  if (job.finished) shown.append(deleteButton(job, shown));
  return shown;
}

// The first click asks, the second one deletes.
function deleteButton(job, shown) {
  const button = element("button", { type: "button", className: "delete", ariaLabel: `Delete: ${job.task}` }, "Delete");
  button.onblur = () => (button.textContent = "Delete");
  button.onclick = async () => {
    if (button.textContent === "Delete") {
      button.textContent = "Delete for good?";
      return;
    }
    try {
      await api.remove(`/jobs/${job.job_id}?purge=true`);
      shown.remove();
    } catch (error) {
      fail(error);
    }
  };
  return button;
}

const formatTime = (time) =>
  time ? new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
