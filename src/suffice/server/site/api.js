// The server's HTTP interface as functions. An API key is stored in this tab only.

import { lossSignal, reportLoss, whenConnected } from "./connection.js";

const KEY = "suffice-key";

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

function headers(more = {}) {
  const key = sessionStorage.getItem(KEY);
  return key ? { Authorization: `Bearer ${key}`, ...more } : more;
}

async function askForKey() {
  const dialog = document.getElementById("key");
  const field = document.getElementById("key-field");
  field.value = "";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  if (!field.value) throw new ApiError("This server requires a key; reload the page to enter one.", 401);
  sessionStorage.setItem(KEY, field.value);
}

async function call(path, options = {}) {
  const response = await fetch(path, { ...options, headers: headers(options.headers) }).catch((error) => {
    if (options.signal?.aborted) throw error;
    reportLoss();
    throw new ApiError("The service cannot be reached. Try again when the connection is back.", 503);
  });
  if (response.ok) return response;
  if (response.status === 401) {
    sessionStorage.removeItem(KEY);
    await askForKey();
    return call(path, options);
  }
  let message = `The server answered ${response.status}.`;
  try {
    message = (await response.json()).error.message;
  } catch {
    // The body is not one of our errors.
  }
  throw new ApiError(message, response.status);
}

export const get = async (path) => (await call(path)).json();
export const text = async (path) => (await call(path)).text();
export const remove = (path) => call(path, { method: "DELETE" });
export const post = async (path, body) =>
  (await call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();

// Yield the events of a run. If the connection breaks, reconnect and continue after the last event.
export async function* events(path, signal) {
  let last = "";
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    await whenConnected();
    try {
      const response = await call(path, { signal: AbortSignal.any([signal, lossSignal()]), headers: last ? { "Last-Event-ID": last } : {} });
      for await (const event of parseEvents(response.body)) {
        pause = 500;
        if (event.id) last = event.id;
        if (event.type === "end") return;
        if (event.data) yield { type: event.type, ...JSON.parse(event.data) };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500) throw error;
    }
    await new Promise((done) => setTimeout(done, pause));
    if (signal.aborted) return;
  }
}

async function* parseEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { type: "message", data: "" };
      for (const line of block.split(/\r?\n/)) {
        const [, field, content] = line.match(/^(event|id|data):\s?(.*)$/) ?? [];
        if (field === "event") event.type = content;
        else if (field === "id") event.id = content;
        else if (field === "data") event.data += content;
      }
      if (event.data || event.type !== "message") yield event;
    }
  }
}
