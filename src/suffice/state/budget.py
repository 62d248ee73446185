"""Whether a run may begin anything further once its search is over."""

from suffice.state.run import RunState


def is_budget_spent(run: RunState) -> bool:
    """Time, tokens or money are used up."""
    bounds = run.bounds
    return (
        run.seconds_left == 0
        or (bounds.tokens is not None and run.tokens_used >= bounds.tokens)
        or (bounds.usd is not None and (run.model.total.usd or 0.0) >= bounds.usd)
    )
