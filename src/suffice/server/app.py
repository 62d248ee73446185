"""The FastAPI application: its routes, its middleware, and the worker that lives as long as the application."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from suffice import __version__
from suffice.server import chat, errors, health, jobs, page, runs, sources
from suffice.server.dependencies import Service
from suffice.server.middleware import SecurityMiddleware


def create_app(service: Service) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        await service.worker.start()
        try:
            yield
        finally:
            await service.worker.stop()

    app = FastAPI(
        title="suffice",
        summary="Deep research that knows when it knows enough.",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # The default pages load scripts from another host; ``page`` has one of its own.
        redoc_url=None,
        redirect_slashes=False,  # The target would be built from the Host header, which the sender chooses.
    )
    app.state.service = service
    errors.install_error_handlers(app)
    app.add_middleware(SecurityMiddleware, needs_key=service.worker.api_keys.is_required)
    for module in (page, runs, jobs, sources, chat, health):
        app.include_router(module.router)
    return app
