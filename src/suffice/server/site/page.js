// The page: routing between its views, the question form, and the list of earlier runs.

import * as api from "./api.js";
import * as run from "./run.js";
import { byId, element } from "./dom.js";
import * as whatif from "./whatif.js";

const VIEWS = ["ask", "runs", "run"];
let parts = null;

function showError(error) {
  const notice = byId("problem");
  notice.textContent = error?.message ?? "";
  notice.hidden = !error;
}

async function route() {
  showError(null);
  run.leave();
  const [, view = "", id] = location.hash.split("/");
  const chosen = view === "runs" && id ? "run" : view === "runs" ? "runs" : "ask";
  for (const name of VIEWS) byId(`view-${name}`).hidden = name !== chosen;
  for (const link of document.querySelectorAll("nav a:not(.name)")) {
    const isCurrent = link.getAttribute("href") === (chosen === "ask" ? "#/" : "#/runs");
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = "suffice";
  try {
    parts ??= await loadParts();
    if (chosen === "ask") byId("question").focus();
    if (chosen === "runs") await showEarlierRuns();
    if (chosen === "run") {
      byId("content").focus();
      await run.show(id);
    }
  } catch (error) {
    showError(error);
  }
}

async function loadParts() {
  const found = await api.get("/parts");
  const options = (names) => names.map((name) => element("option", {}, name));
  byId("strategy").replaceChildren(...options(found.strategies));
  byId("memory").replaceChildren(element("option", { value: "" }, "the strategy's default"), ...options(found.memories));
  byId("tier").replaceChildren(...options(found.tiers));
  byId("tier").value = "standard";
  const boxes = found.collections.map((name) => checkbox("collections", name, name, true));
  if (found.web) boxes.push(checkbox("web", "web", "the web", !boxes.length));
  byId("where").append(...boxes);
  whatif.prepare(found);
  byId("ask").querySelector("button.main").disabled = false;
  return found;
}

const checkbox = (name, value, label, checked) =>
  element("label", {}, element("input", { type: "checkbox", name, value, checked }), label);

byId("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  const options = { collections: form.getAll("collections"), strategy: form.get("strategy") };
  if (form.get("web")) options.web = true;
  if (form.get("memory")) options.memory = form.get("memory");
  if (form.get("stop").trim()) options.stop = form.get("stop").trim();
  const button = event.target.querySelector("button.main");
  button.disabled = true;
  try {
    const body = { question: form.get("question"), options, complexity_tier: form.get("tier"), async: true };
    location.hash = `#/runs/${(await api.post("/run", body)).job_id}`;
  } catch (error) {
    showError(error);
  } finally {
    button.disabled = false;
  }
});

byId("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("ask").requestSubmit();
});

async function showEarlierRuns(cursor = "") {
  const page = await api.get(`/jobs?limit=20${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
  const items = page.jobs.map((job) =>
    element("li", {},
      element("a", { href: `#/runs/${job.job_id}`, dir: "auto" }, job.task),
      element("p", {}, [job.status, formatTime(job.created)].filter(Boolean).join(" · "))));
  if (cursor) byId("runs").append(...items);
  else byId("runs").replaceChildren(...(items.length ? items : [element("li", {}, "No runs yet.")]));
  byId("more").hidden = !page.next;
  byId("more").onclick = () => showEarlierRuns(page.next).catch(showError);
}

const formatTime = (time) => (time ? new Date(time).toLocaleString() : "");

addEventListener("hashchange", route);
route();
