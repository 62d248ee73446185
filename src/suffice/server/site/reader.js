// Opens a source of the report: the document around the cited lines, with the deciding words marked.

import * as api from "./api.js";
import { byId, element } from "./dom.js";

const MORE_LINES = 300;

// Load the document when the passage of a source is unfolded. Without an answer the passage of the report stays.
export function attach(report, run) {
  for (const fold of report.querySelectorAll("aside details.passage")) {
    const number = Number(fold.closest("li").id.replace("source-", ""));
    fold.addEventListener("toggle", async () => {
      if (!fold.open || fold.dataset.loaded) return;
      fold.dataset.loaded = "yes";
      try {
        const source = await api.get(`/jobs/${run}/sources/${number}`);
        if (!source.lines.length) return;
        fold.replaceChildren(fold.querySelector("summary"), ...show(source, run, number));
        scrollToCited(fold);
      } catch {
        delete fold.dataset.loaded;
      }
    });
  }
}

byId("larger-close").onclick = () => byId("larger").close();

function show(source, run, number) {
  const larger = element("button", { type: "button" }, "Open larger");
  larger.onclick = () => openLarger(run, number).catch(() => {});
  const back = element("button", { type: "button" }, "Back to the answer");
  back.onclick = () => {
    const link = document.querySelector(`#answer a.cite[href="#source-${number}"]`) ?? byId("answer");
    link.scrollIntoView({ block: "center" });
    link.focus({ preventScroll: true });
  };
  const actions = element("p", { className: "reader-actions" }, larger, back,
    source.remark ? element("span", { className: "hint" }, source.remark) : null);
  return [text(source), actions];
}

async function openLarger(run, number) {
  const source = await api.get(`/jobs/${run}/sources/${number}?context=${MORE_LINES}`);
  byId("larger-title").textContent = source.title || source.location;
  byId("larger-place").textContent = source.location;
  byId("larger-text").replaceChildren(text(source));
  byId("larger").showModal();
  scrollToCited(byId("larger"));
}

function text(source) {
  const label = `${source.title || source.location}, around the cited place`;
  return element("div", { className: "reader", tabIndex: 0, role: "group", ariaLabel: label }, ...source.lines.map(line));
}

function line({ number, text: content, cited, marks }) {
  const parts = [];
  let position = 0;
  for (const [start, end] of marks) {
    parts.push(content.slice(position, start), element("mark", { className: "hit" }, content.slice(start, end)));
    position = end;
  }
  parts.push(content.slice(position));
  const classes = [cited ? "cited" : "", number === null ? "unnumbered" : ""].filter(Boolean).join(" ");
  return element("p", { className: classes }, element("b", {}, number === null ? "" : String(number)), element("span", { dir: "auto" }, ...parts));
}

function scrollToCited(container) {
  const reader = container.querySelector(".reader");
  const first = reader.querySelector("p.cited");
  if (first) reader.scrollTop = first.offsetTop - reader.offsetTop - 3 * first.offsetHeight;
}
