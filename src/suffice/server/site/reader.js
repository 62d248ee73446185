// Opens a source of the report with the deciding words marked: a PDF as its page, an office file laid out, others by lines.

import * as api from "./api.js";
import { byId, element, parseDocument } from "./dom.js";

const MORE_LINES = 300;

// Load the document when the passage of a source is unfolded. Without an answer the passage of the report stays.
export function attach(report, run) {
  for (const fold of report.querySelectorAll("aside details.passage")) {
    const number = Number(fold.closest("li").id.replace("source-", ""));
    fold.addEventListener("toggle", async () => {
      if (!fold.open || fold.dataset.loaded) return;
      fold.dataset.loaded = "yes";
      try {
        const source = await api.get(`/jobs/${run}/sources/${number}?page=true`);
        if (!source.lines.length) return;
        fold.replaceChildren(fold.querySelector("summary"), ...show(source, run, number));
        scrollToDeciding(fold);
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
  return [...content(source), actions];
}

async function openLarger(run, number) {
  const source = await api.get(`/jobs/${run}/sources/${number}?context=${MORE_LINES}&page=true`);
  byId("larger-title").textContent = source.title || source.location;
  byId("larger-place").textContent = source.location;
  byId("larger-text").replaceChildren(...content(source));
  byId("larger").showModal();
  scrollToDeciding(byId("larger"));
}

function content(source) {
  const label = `${source.title || source.location}, around the cited place`;
  const box = (className, ...children) => element("div", { className: `reader ${className}`, tabIndex: 0, role: "group", ariaLabel: label }, ...children);
  if (source.html) return [box("laid-out", ...parseDocument(source.html, "text/html"))];
  const text = box("", ...source.lines.map(line));
  if (!source.page) return [text];
  return [box("drawn", page(source.page)), element("details", { className: "page-text" }, element("summary", {}, "The page as text"), text)];
}

function page({ number, width, height, image, boxes }) {
  const marks = boxes.map(([left, top, boxWidth, boxHeight]) => {
    const mark = element("mark", { className: "hit" });
    mark.style.cssText = `left:${left * 100}%;top:${top * 100}%;width:${boxWidth * 100}%;height:${boxHeight * 100}%`;
    return mark;
  });
  return element("div", { className: "sheet" }, element("img", { src: image, width, height, alt: `Page ${number}` }), ...marks);
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

// The script of the report sets back the marks that the citation does not stand for.
function scrollToDeciding(container) {
  const reader = container.querySelector(".reader");
  reader.dispatchEvent(new Event("shown", { bubbles: true }));
  const first = reader.querySelector("mark:not(.other)") ?? reader.querySelector(".cited");
  if (!first) return;
  const place = first.getBoundingClientRect();
  const frame = reader.getBoundingClientRect();
  reader.scrollTop += place.top - frame.top - frame.height / 3;
  if (place.right > frame.right) reader.scrollLeft += place.left - frame.left - 16;
  reader.scrollIntoView({ block: "nearest" });
}
