"""`arena completion`: completion of commands, options and their values in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

#: The console scripts that it completes.
_SCRIPTS = ("arena", "train")


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print what completes arena and train in a shell.

    \b
    Examples:
      eval "$(arena completion bash)"                                    # in ~/.bashrc
      eval "$(arena completion zsh)"                                     # in ~/.zshrc, after compinit
      arena completion fish > ~/.config/fish/completions/arena.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    for script in _SCRIPTS:
        variable = f"_{script.upper()}_COMPLETE"
        click.echo(completion_class(click.Command(script), {}, script, variable).source())
