"""The first key of a service that runs without keys. (A process runs one service at a time, so this is a file of its own.)"""

import pytest
from http_client import run_service

from suffice.jobs import api_keys
from suffice.jobs.api_keys import Quota


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.attack("keys and quotas")
def test_first_key_takes_effect_without_a_restart(tmp_path, monkeypatch):
    monkeypatch.setattr(api_keys, "RECHECK_SECONDS", 0.0)
    with run_service(tmp_path) as service:
        assert service.client.get("/jobs").status_code == 200
        _, secret = service.worker.api_keys.create("ann", Quota())
        assert service.client.get("/jobs").status_code == 401
        assert service.client.get("/jobs", headers=bearer(secret)).status_code == 200
        proxied = {**bearer(secret), "Host": "suffice.example", "X-Forwarded-For": "192.0.2.1"}
        assert service.client.get("/jobs", headers=proxied).status_code == 200
