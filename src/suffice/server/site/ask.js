// The question form: where to look, the settings, and starting a run.

import * as api from "./api.js";
import { byId, element, pluralize } from "./dom.js";

const TIERS = { auto: "as the question needs", simple: "quick", standard: "standard", deep: "deep" };
const DEFAULTS = { tier: "standard", breadth: "auto", strategy: "auto", memory: "", stop: "" };

export function prepare(parts, showError) {
  fill("strategy", parts.strategies);
  fill("memory", ["", ...parts.memories], { "": "the strategy's own" });
  fill("tier", parts.tiers, TIERS);
  fill("breadth", parts.breadths);
  byId("skills").append(...parts.skills.map(skill));
  byId("skills").hidden = !parts.skills.length;
  resetSettings();
  showCollections(parts);
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const options = { ...chosenSettings(), collections: form.getAll("collections") };
    if (form.get("web")) options.web = true;
    if (!options.collections.length && !options.web) {
      showError(new Error("Choose at least one place to look, below the question."));
      return;
    }
    start({ question: form.get("question"), options }, event.target, showError);
  });
  for (const box of [byId("question"), byId("follow-question")]) {
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      event.target.form.requestSubmit();
    });
  }
  byId("settings-button").onclick = () => byId("settings").showModal();
  byId("settings-button").disabled = false;
  byId("settings-done").onclick = () => byId("settings").close();
  byId("settings-reset").onclick = resetSettings;
  byId("settings").addEventListener("close", () => {
    describeSettings();
    showEstimate();
  });
  showEstimate();
  describeCollections();
}

// Start a run and show it; the button of the form waits for the answer of the server.
export async function start({ question, options }, form, showError) {
  const button = form.querySelector("button.main");
  button.disabled = true;
  showError(null);
  try {
    const body = { question, options, complexity_tier: byId("tier").value, async: true };
    location.hash = `#/runs/${(await api.post("/run", body)).job_id}`;
  } catch (error) {
    showError(error);
  } finally {
    button.disabled = false;
  }
}

export function chosenSettings() {
  const options = { strategy: byId("strategy").value, breadth: byId("breadth").value };
  if (byId("memory").value) options.memory = byId("memory").value;
  if (byId("stop").value.trim()) options.stop = byId("stop").value.trim();
  return options;
}

// Say what a run with these settings would cost, before anything is spent.
async function showEstimate() {
  const line = byId("estimate-line");
  try {
    const body = { question: "What will it cost?", options: chosenSettings(), complexity_tier: byId("tier").value };
    const found = await api.post("/estimate", body);
    byId("model-line").hidden = false;
    byId("model-line").textContent = found.model === "extractive"
      ? "No language model is used: the answer is quoted from what is found."
      : `The answer is written by ${found.model}.`;
    line.textContent = found.text;
    line.hidden = !found.calls.high;
  } catch {
    line.hidden = true;  // A setting that cannot be used is reported when the question is asked.
  }
}

function showCollections(parts) {
  const boxes = parts.collections.map((name) => {
    const folders = (parts.folders[name] ?? []).join(", ");
    const isNamed = name !== "default" || !folders;  // The operator gave it no name: its folder tells more.
    return checkbox("collections", name, isNamed ? name : folders, isNamed ? folders : "");
  });
  if (parts.web) boxes.push(checkbox("web", "web", "the web", "a search service that the operator chose", !boxes.length));
  byId("where").append(...boxes);
  byId("ask").querySelector("button.main").disabled = !boxes.length;
  if (!boxes.length) {
    byId("where-hint").textContent = "This server has nothing to search yet. Start it with: suffice serve --docs FOLDER";
  }
}

// Add the size and age of each collection, and questions that its files can answer. It may take a while to list the files.
async function describeCollections() {
  const { collections, examples } = await api.get("/collections").catch(() => ({ collections: [], examples: [] }));
  for (const { name, files, changed } of collections) {
    const hint = byId("where").querySelector(`input[value="${CSS.escape(name)}"] ~ .hint`);
    if (hint && files) hint.append(` · ${pluralize(files, "file")}, newest ${formatAge(changed)}`);
  }
  byId("examples").append(...examples.map(example));
  byId("examples").hidden = !examples.length;
}

function example(question) {
  const button = element("button", { type: "button", className: "example", dir: "auto" }, question);
  button.onclick = () => {
    byId("question").value = question;
    byId("question").focus();
  };
  return button;
}

function skill({ name, description }) {
  const button = element("button", { type: "button", className: "skill", title: description }, `/${name}`);
  button.onclick = () => {
    byId("question").value = `/${name} ${byId("question").value}`;
    byId("question").focus();
  };
  return button;
}

function formatAge(seconds) {
  const minutes = (seconds - Date.now() / 1000) / 60;
  const [unit, length] = Object.entries({ year: 525600, month: 43800, day: 1440, hour: 60, minute: 1 })
    .find(([, length]) => Math.abs(minutes) >= length) ?? ["minute", 1];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.trunc(minutes / length), unit);
}

function checkbox(name, value, label, hint, checked = true) {
  const input = element("input", { type: "checkbox", name, value, checked });
  return element("label", {}, input, label, element("span", { className: "hint" }, hint && ` · ${hint}`));
}

function fill(id, names, labels = {}) {
  byId(id).replaceChildren(...names.map((name) => element("option", { value: name }, labels[name] ?? name)));
}

function resetSettings() {
  for (const [id, value] of Object.entries(DEFAULTS)) byId(id).value = value;
  describeSettings();
}

function describeSettings() {
  const changed = Object.entries(DEFAULTS).filter(([id, value]) => byId(id).value.trim() !== value);
  byId("settings-line").textContent = changed.map(([id]) => `${id}: ${byId(id).value}`).join(" · ");
}
