"""Errors of the HTTP service, all with the same body: ``{"error": {"type", "message", "retryable"}}``."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from suffice.errors import InputError, SufficeError, Unavailable
from suffice.jobs.database import DatabaseError, is_database_failure

log = logging.getLogger(__name__)

_ERROR_TYPES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "conflict",
    413: "too_large",
    421: "wrong_host",
    422: "invalid_request",
    429: "too_many",
    500: "internal",
    503: "unavailable",
}


class ErrorDetail(BaseModel):
    type: str
    message: str
    retryable: bool


class ErrorResponse(BaseModel):
    """The body of every error; ``retryable`` says whether the same request may succeed later."""

    error: ErrorDetail


class ApiError(Exception):
    """An error response to a request."""

    def __init__(
        self, status: int, message: str, *, retryable: bool = False, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.headers = dict(headers or {})


def error_response(
    status: int, message: str, retryable: bool = False, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    detail = {"type": _ERROR_TYPES.get(status, "error"), "message": message, "retryable": retryable}
    return JSONResponse({"error": detail}, status, dict(headers or {}))


def document_errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of these errors."""
    return {
        status: {"model": ErrorResponse, "description": _ERROR_TYPES[status].replace("_", " ")} for status in statuses
    }


def install_error_handlers(app: FastAPI) -> None:
    """Turn every exception into an error response."""
    for kind in (ApiError, RequestValidationError, HTTPException, SufficeError, DatabaseError, Exception):
        app.add_exception_handler(kind, _respond)


async def _respond(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, ApiError):
        return error_response(error.status, str(error), error.retryable, error.headers)
    if isinstance(error, RequestValidationError):
        return error_response(422, _format_validation_error(error, request))
    if isinstance(error, HTTPException):
        path = request.url.path
        messages = {404: f"There is nothing at {path}", 405: f"{request.method} is not supported at {path}"}
        message = messages.get(error.status_code, str(error.detail))
        return error_response(error.status_code, message, headers=error.headers)
    if isinstance(error, Unavailable):
        return error_response(503, str(error), error.retryable)
    if isinstance(error, SufficeError):
        return error_response(422 if isinstance(error, InputError) else 500, str(error))
    if is_database_failure(error):
        log.error("The database failed: %s", str(error).partition("\n")[0])
        return error_response(503, "The database does not answer; try again later", True, {"retry-after": "10"})
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return error_response(500, "An internal error occurred; see the server's log")


def _format_validation_error(error: RequestValidationError, request: Request) -> str:
    """Return the first validation error, an unknown key before others, as one sentence with its location."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    if first["type"] == "json_invalid":
        return f"The body is not valid JSON: {first['ctx']['error']} at character {first['loc'][-1] + 1}"
    if first["loc"] == ("body",) and first["type"] == "missing":
        return "The body is missing; send a JSON object"
    if first["loc"] == ("body",) and first["type"] in ("model_attributes_type", "model_type"):
        is_json = "json" in request.headers.get("content-type", "").lower()
        return "The body must be a JSON object" if is_json else "Send the header Content-Type: application/json"
    if first["type"] == "string_too_short" and first["loc"][-1] in ("question", "task"):
        return "the question is empty"
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        known = request.scope["route"].body_field.field_info.annotation.model_fields
        for name in first["loc"][1:-1]:
            known = known[name].annotation.model_fields
        message = f"this key is unknown; the keys are {', '.join(one.alias or name for name, one in known.items())}"
    return f"{place}: {message}" if place else message
