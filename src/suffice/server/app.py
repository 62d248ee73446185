"""The application: its paths, what stands before them, and the worker's life around it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from suffice import __version__
from suffice.server import chat, errors, health, jobs, page, runs
from suffice.server.context import Service
from suffice.server.guard import SecurityMiddleware


def create_app(service: Service) -> FastAPI:
    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None, None]:
        await service.worker.start()
        try:
            yield
        finally:
            await service.worker.stop()

    app = FastAPI(
        title="suffice",
        summary="Deep research that knows when it knows enough.",
        version=__version__,
        lifespan=life,
        docs_url=None,  # The usual page loads its scripts from elsewhere.
        redoc_url=None,
    )
    app.state.service = service
    errors.install_error_handlers(app)
    app.add_middleware(SecurityMiddleware, localhost_only=service.is_open)
    for part in (page, runs, jobs, chat, health):
        app.include_router(part.router)
    return app
