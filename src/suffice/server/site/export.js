// Copy and download a finished report.

import * as api from "./api.js";
import { byId } from "./dom.js";

const FORMATS = {
  md: { path: "report.md", type: "text/markdown" },
  html: { path: "report.html", type: "text/html" },
};

export function show(job) {
  const say = (text) => (byId("action-result").textContent = text);
  say("");
  byId("copy").hidden = !job.report.final_answer;
  byId("copy").onclick = async () => say((await copy(toText(job.report))) ? "Copied." : "The browser does not allow copying here.");
  for (const button of document.querySelectorAll("[data-download]")) {
    const format = button.dataset.download;
    button.ariaLabel = `Download as ${button.textContent}`;
    button.onclick = async () => {
      try {
        save(await content(job, format), `${job.job_id}.${format}`, FORMATS[format]?.type);
        say("Downloaded.");
      } catch (error) {
        say(error.message);
      }
    };
  }
}

const content = (job, format) =>
  format === "json" ? JSON.stringify(job.report, null, 2) : api.text(`/jobs/${job.job_id}/${FORMATS[format].path}`);

function toText(report) {
  const sources = report.sources.map((source) => `${source.id} ${source.title} (${source.url ?? source.location})`);
  return [report.short_answer, report.final_answer, sources.join("\n")].filter(Boolean).join("\n\n");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function save(text, name, type = "application/json") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
