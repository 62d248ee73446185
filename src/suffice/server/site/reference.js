// The HTTP interface as one page, made from the OpenAPI schema of the service.

import { byId, element } from "./dom.js";

const schema = await (await fetch("/openapi.json")).json();
const routes = Object.entries(schema.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })));

byId("contents").append(...routes.map((route) =>
  element("li", {}, element("a", { href: `#${anchor(route)}` }, element("code", {}, route.name)), ` ${route.summary ?? ""}`)));
byId("routes").append(...routes.map(describeRoute));
byId("bodies").append(...Object.entries(schema.components?.schemas ?? {}).map(describeBody));
if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();

function describeRoute(route) {
  const body = route.requestBody?.content?.["application/json"]?.schema;
  const parameters = (route.parameters ?? []).map((each) => [each.name, [`${each.in}, `, ...type(each.schema)], each.description]);
  const answers = Object.entries(route.responses ?? {}).map(([status, answer]) =>
    [status, Object.entries(answer.content ?? {}).flatMap(([kind, content]) => or(type(content.schema), kind)), answer.description]);
  return element("section", {},
    element("h2", { id: anchor(route) }, element("code", {}, route.name)),
    element("p", {}, `${route.summary ?? ""}. ${route.description ?? ""}`),
    body ? element("p", {}, "Body: ", ...type(body)) : null,
    table(["Parameter", "Type", "Meaning"], parameters),
    table(["Status", "Body", "Meaning"], answers));
}

function describeBody([name, body]) {
  const rows = Object.entries(body.properties ?? {}).map(([field, content]) =>
    [`${field}${body.required?.includes(field) ? " (required)" : ""}`, type(content), content.description]);
  return element("section", {},
    element("h3", { id: `body-${name}` }, name),
    element("p", {}, body.description ?? ""),
    table(["Field", "Type", "Meaning"], rows));
}

function table(head, rows) {
  if (!rows.length) return null;
  const heads = head.map((cell) => element("th", { scope: "col" }, cell));
  const lines = rows.map(([name, kind, meaning]) => element("tr", {},
    element("td", {}, element("code", {}, name)), element("td", {}, ...kind), element("td", {}, meaning ?? "")));
  return element("div", { className: "scroll", role: "group", tabIndex: 0, ariaLabel: head.join(", ") },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines)));
}

// Return a type as text and links to the bodies it names.
function type(given = {}) {
  if (given.$ref) {
    const name = given.$ref.split("/").pop();
    return [element("a", { href: `#body-${name}` }, name)];
  }
  const choices = given.anyOf ?? given.oneOf ?? given.allOf;
  if (choices) return choices.map(type).filter((each) => each.length).flatMap((each, at) => (at ? [" or ", ...each] : each));
  if (given.enum) return [given.enum.join(" or ")];
  if (given.type === "array") return ["list of ", ...or(type(given.items), "anything")];
  return given.type ? [given.type] : [];
}

function or(parts, other) {
  return parts.length ? parts : [other];
}

function anchor(route) {
  return route.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/-$/, "");
}
