// Watches the connection to the service: says within five seconds that it is lost, and goes on when it is back.

import { byId } from "./dom.js";

const PAUSE = 2000;
const PATIENCE = 2500;
const listeners = [];
let loss = new AbortController();  // Aborted while the connection is lost.
let back = null;

export const onReturn = (listener) => listeners.push(listener);

// A signal that ends what waits for an answer when the connection is lost.
export const lossSignal = () => loss.signal;

// Resolves when there is a connection, at once if there is one.
export const whenConnected = () => back?.promise;

export async function watch() {
  try {
    const response = await fetch("/healthz", { signal: AbortSignal.timeout(PATIENCE) });
    if (back && response.ok) reportReturn();
  } catch {
    reportLoss();
  }
  setTimeout(watch, PAUSE);
}

export function reportLoss() {
  if (back) return;
  back = Promise.withResolvers();
  loss.abort();
  byId("connection").hidden = false;
}

function reportReturn() {
  loss = new AbortController();
  back.resolve();
  back = null;
  byId("connection").hidden = true;
  for (const listener of listeners) listener();
}
