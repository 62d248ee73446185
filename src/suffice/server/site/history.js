// The list of earlier runs, with a search over their questions.

import * as api from "./api.js";
import { byId, element, pluralize } from "./dom.js";

const STATUS = { done: "", queued: "waiting", running: "running", failed: "failed", cancelled: "stopped" };
let timer = 0;
let latest = 0;

export function prepare(showError) {
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
  const items = page.jobs.map((job) =>
    element("li", {},
      element("a", { href: `#/runs/${job.job_id}`, dir: "auto" }, job.task),
      element("p", {}, [formatTime(job.created), STATUS[job.status] ?? job.status].filter(Boolean).join(" · "))));
  if (cursor) byId("runs").append(...items);
  else byId("runs").replaceChildren(...items);
  const shown = byId("runs").children.length;
  byId("runs-status").textContent = shown
    ? words ? `${pluralize(shown, "run")}${page.next ? " and more" : ""} with “${words}”` : ""
    : words ? `No question has “${words}”.` : "No runs yet. What you ask appears here.";
  byId("more").hidden = !page.next;
  byId("more").dataset.next = page.next ?? "";
}

const formatTime = (time) =>
  time ? new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
