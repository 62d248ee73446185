// Small helpers to build what is shown. Text from the server only ever becomes text, never markup.

export const byId = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const list = (items, className) =>
  element("ul", { className }, ...items.map((item) => element("li", { dir: "auto" }, item)));

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

export function rounded(value) {
  if (value === null || value === undefined) return "–";
  return Number.isInteger(value) ? String(value) : Number(value).toPrecision(3).replace(/\.?0+$/, "");
}

// A drawing or a page that the server made; scripts in it would not run, the page's policy forbids them.
export function drawn(text, type = "image/svg+xml") {
  // A report brings its own style, which this page has already.
  const parsed = new DOMParser().parseFromString(text.replace(/<style>[^]*?<\/style>/, ""), type);
  return type === "text/html" ? [...parsed.body.children] : [document.importNode(parsed.documentElement, true)];
}
