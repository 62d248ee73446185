"""``/docs``: the HTTP interface as one HTML page, made from the OpenAPI schema and without requests to other hosts."""

from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response

router = APIRouter()

_METHODS = ("get", "post", "put", "patch", "delete")


@router.get("/docs", include_in_schema=False)
async def get_reference(request: Request) -> Response:
    return Response(render_reference(request.app.openapi()), media_type="text/html")


def render_reference(schema: dict[str, Any]) -> str:
    """Return the page of an OpenAPI schema."""
    routes = [
        (method, path, operation)
        for path, item in schema["paths"].items()
        for method, operation in item.items()
        if method in _METHODS
    ]
    schemas = schema.get("components", {}).get("schemas", {})
    contents = "".join(
        f'<li><a href="#{_anchor(method, path)}"><code>{method.upper()} {escape(path)}</code></a> '
        f"{escape(operation.get('summary', ''))}</li>"
        for method, path, operation in routes
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>suffice: HTTP interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/report.css">
<link rel="stylesheet" href="/static/page.css">
</head>
<body>
<nav aria-label="Main"><a class="name" href="/">suffice</a><a href="/">Ask</a>
<a href="/openapi.json">OpenAPI schema</a></nav>
<main class="reference">
<h1>HTTP interface</h1>
<p>Version {escape(schema["info"]["version"])}. With keys, send <code>Authorization: Bearer KEY</code>. Every error has the
body <code>{{"error": {{"type", "message", "retryable"}}}}</code>.</p>
<ul>{contents}</ul>
{"".join(_render_route(method, path, operation) for method, path, operation in routes)}
<h2>Bodies</h2>
{"".join(_render_schema(name, body) for name, body in schemas.items())}
</main>
</body>
</html>
"""


def _render_route(method: str, path: str, operation: dict[str, Any]) -> str:
    description = operation.get("description", "")
    parameters = [
        (each["name"], f"{each['in']}, {_describe_type(each.get('schema', {}))}", each.get("description", ""))
        for each in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answers = [
        (
            status,
            ", ".join(_describe_type(content.get("schema", {})) or kind for kind, content in _contents(answer)),
            answer.get("description", ""),
        )
        for status, answer in operation.get("responses", {}).items()
    ]
    return (
        f'<section><h2 id="{_anchor(method, path)}"><code>{method.upper()} {escape(path)}</code></h2>'
        f"<p>{escape(operation.get('summary', ''))}. {escape(description)}</p>"
        + (f"<p>Body: {_describe_type(body)}</p>" if body else "")
        + _render_table(("Parameter", "Type", "Meaning"), parameters)
        + _render_table(("Status", "Body", "Meaning"), answers)
        + "</section>"
    )


def _contents(answer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return list(answer.get("content", {}).items())


def _render_schema(name: str, body: dict[str, Any]) -> str:
    required = set(body.get("required", ()))
    rows = [
        (
            f"{field}{' (required)' if field in required else ''}",
            _describe_type(content),
            content.get("description", ""),
        )
        for field, content in body.get("properties", {}).items()
    ]
    return (
        f'<section><h3 id="body-{escape(name)}">{escape(name)}</h3><p>{escape(body.get("description", ""))}</p>'
        + _render_table(("Field", "Type", "Meaning"), rows)
        + "</section>"
    )


def _render_table(head: tuple[str, str, str], rows: list[tuple[str, str, str]]) -> str:
    """Render rows whose second cell is HTML already."""
    if not rows:
        return ""
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    cells = "".join(
        f"<tr><td><code>{escape(first)}</code></td><td>{second}</td><td>{escape(third)}</td></tr>"
        for first, second, third in rows
    )
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{", ".join(head)}">'
        f"<table><thead><tr>{heads}</tr></thead>"
        f"<tbody>{cells}</tbody></table></div>"
    )


def _describe_type(schema: dict[str, Any]) -> str:
    """Return the type as HTML, with links to the bodies it names."""
    if reference := schema.get("$ref"):
        name = escape(reference.rsplit("/", 1)[1])
        return f'<a href="#body-{name}">{name}</a>'
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(filter(None, map(_describe_type, schema[key])))
    if "enum" in schema:
        return " or ".join(escape(str(value)) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema.get('items', {})) or 'anything'}"
    return escape(str(schema.get("type", "")))


def _anchor(method: str, path: str) -> str:
    return f"{method}{path}".replace("/", "-").replace("{", "").replace("}", "").rstrip("-")
