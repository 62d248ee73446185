// Helpers that build DOM elements. Text from the server is inserted as text, never as markup.

export const byId = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in created) created[key] = value;
    else created.setAttribute(key, value);
  }
  created.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return created;
}

export const bulletList = (items, className) =>
  element("ul", { className, tabIndex: items.length > 5 ? 0 : -1 }, ...items.map((item) => element("li", { dir: "auto" }, item)));

export const pluralize = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

// Parse an SVG or HTML document from the server. Its scripts do not run: the page's content security policy forbids them.
export function parseDocument(text, type = "image/svg+xml") {
  // This page has loaded the report's style already.
  const parsed = new DOMParser().parseFromString(text.replace(/<style>[^]*?<\/style>/, ""), type);
  return type === "text/html" ? [...parsed.body.children] : [document.importNode(parsed.documentElement, true)];
}
