// The page: routing between its views.

import * as api from "./api.js";
import * as ask from "./ask.js";
import * as connection from "./connection.js";
import { byId } from "./dom.js";
import * as history from "./history.js";
import * as run from "./run.js";
import * as whatif from "./whatif.js";

const VIEWS = ["ask", "runs", "run"];
let parts = null;

function showError(error) {
  const notice = byId("problem");
  notice.textContent = error?.message ?? "";
  notice.hidden = !error;
  if (error) notice.scrollIntoView({ block: "nearest" });
}

async function route() {
  // Only "#/…" names a view; any other hash is an element of the view that is shown.
  if (location.hash && !location.hash.startsWith("#/")) return;
  run.leave();
  const [, view = "", id] = location.hash.split("/");
  const chosen = view === "runs" && id ? "run" : view === "runs" ? "runs" : "ask";
  showError(view && chosen === "ask" ? new Error(`There is nothing at ${location.hash} on this page.`) : null);
  for (const name of VIEWS) byId(`view-${name}`).hidden = name !== chosen;
  for (const link of document.querySelectorAll("nav a:not(.name)")) {
    const isCurrent = link.getAttribute("href") === { ask: "#/", runs: "#/runs" }[chosen];
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = "suffice";
  scrollTo(0, 0);
  try {
    parts ??= await loadParts();
    if (chosen === "ask") byId("question").focus();
    if (chosen === "runs") await history.show();
    if (chosen === "run") {
      byId("content").focus({ preventScroll: true });
      await run.show(id);
    }
  } catch (error) {
    if (chosen === "run") {
      run.leave();
      byId("cancel").hidden = true;
      byId("view-run").hidden = !byId("run-title").textContent;  // There is no such run.
    }
    showError(error);
  }
}

async function loadParts() {
  const found = await api.get("/parts");
  ask.prepare(found, showError);
  history.prepare(showError);
  run.prepare(showError);
  whatif.prepare(found);
  return found;
}

// A view that could not be loaded is loaded again. A run continues by itself.
connection.onReturn(() => {
  if (!byId("problem").hidden || !parts) route();
});
connection.watch();
addEventListener("hashchange", route);
route();
