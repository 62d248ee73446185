"""``suffice prompts``: list, show and compare the texts that language models are given, also those of a recorded run."""

from difflib import unified_diff

import typer

from suffice import settings
from suffice.cli.options import CommandGroup, argument, flag
from suffice.errors import InputError

prompts_app = CommandGroup(
    "prompts", help="List, show and compare prompts, which you can replace.", invoke_without_command=True
)


@prompts_app.callback()
def main(
    context: typer.Context,
    run: str | None = flag(
        None,
        "Show the prompts of a recorded run as the language model got them: the beginning of its id, or 'last'.",
        metavar="RUN",
    ),
) -> None:
    if run is not None:
        _print_sent(run)
    elif context.invoked_subcommand is None:
        print(context.get_help())


@prompts_app.command("list")
def list_prompts() -> None:
    """List the prompts with their versions, and which of them you have replaced."""
    from suffice.prompts.base import list_own_templates, list_templates, load_built_in, load_template

    own = list_own_templates()
    for name in list_templates():
        replaced = f"  replaced by {own[name]} (version {load_template(name).version})" if name in own else ""
        print(f"{name:<28} version {load_built_in(name).version}{replaced}")
    print(f"\nTo replace one, write {settings.get_prompts_dir()}/NAME.md; start from: suffice prompts show NAME")


@prompts_app.command()
def show(
    name: str = argument(..., "The prompt, such as draft or writing/prose.", "NAME", show_default=False),
    built_in: bool = flag(False, "Show the built-in text although it is replaced.", flags="--built-in"),
) -> None:
    """Show the text of a prompt as a file that can replace it."""
    from suffice.prompts.base import list_own_templates, read_built_in

    text = read_built_in(name)
    own = list_own_templates().get(name)
    print((text if own is None or built_in else own.read_text(encoding="utf-8")).rstrip("\n"))


@prompts_app.command()
def diff(name: str | None = argument(None, "The prompt. Without it, all that you replaced.", "NAME")) -> None:
    """Show how your prompts differ from the built-in ones."""
    from suffice.prompts.base import list_own_templates, read_built_in

    own = list_own_templates()
    if name is not None:
        read_built_in(name)
        if name not in own:
            raise InputError(f"You have not replaced {name}; write {settings.get_prompts_dir()}/{name}.md to do so")
    for each in [name] if name is not None else own:
        mine = own[each].read_text(encoding="utf-8")
        lines = unified_diff(
            read_built_in(each).splitlines(), mine.splitlines(), f"{each}.md (built in)", str(own[each]), lineterm=""
        )
        print("\n".join(lines))


def _print_sent(run: str) -> None:
    from suffice.storage.runs import find_run_dir, read_events
    from suffice.text.tokens import estimate_tokens

    folder = find_run_dir(settings.load().data_dir, run)
    asked = [event for event in read_events(folder) if event["type"] == "asked"]
    if not asked:
        raise InputError(f"Run {folder.name} asked no language model; it has no prompts to show")
    for number, event in enumerate(asked, 1):
        print(
            f"======== {number} of {len(asked)}: {event['role']}, about {estimate_tokens(event['prompt']):,} tokens ========"
        )
        print(event["prompt"].rstrip("\n") + "\n")
