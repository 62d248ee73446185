"""``suffice guard``: tell another agent when its searches bring nothing new."""

import json

from suffice.cli.options import JSON, CommandGroup, argument

guard_app = CommandGroup("guard", help="Tell another agent when its searches bring nothing new.", no_args_is_help=True)


@guard_app.command()
def hook() -> int:
    """Watch one tool call, as a hook of Claude Code or Codex.

    It reads the event from standard input. It prints advice only when there is some, never blocks, and always exits with 0.
    """
    from suffice.cli.hook import run_hook

    return run_hook()


@guard_app.command()
def report(
    session: str | None = argument(None, "The id of a session, or its beginning. Default: the latest.", "SESSION"),
    as_json: bool = JSON,
) -> None:
    """Show what was watched in a session, and where it could have stopped."""
    from suffice.guard import describe_session, find_session, get_state_folder, read_looks

    path = find_session(get_state_folder(), session)
    found = {"session": path.stem, **describe_session(read_looks(path))}
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    looks, stop = found["rounds"], found["could_have_stopped"]
    print(
        f"Session {found['session']}: {found['searches']:,} searches and {found['reads']:,} reads, "
        f"about {found['tokens']:,} tokens; of their text {_format_share(found['new_pieces'], found['pieces'])} was new"
    )
    for number, look in enumerate(looks, 1):
        share = "unknown" if look["new_share"] is None else f"{look['new_share']:.0%} new"
        query = " ".join(look["query"].split())
        print(f"{number:4}  {share:>8}  {look['tokens']:>9,} tokens  {look['tool']}: {query[:60]}")
    if stop is None:
        print("There was no place to stop: something new kept coming.")
    elif not stop["later_looks"]:
        print("It could stop here: its last searches and reads brought hardly anything new.")
    else:
        print(
            f"It could have stopped after number {stop['after_look']}: what came later cost about "
            f"{stop['later_tokens']:,} tokens, and {_format_share(stop['later_new_pieces'], stop['later_pieces'])} "
            "of it was new."
        )


def _format_share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "nothing"
