"""Commands that a hint suggests.  People paste them, and frameworks choose some of the names in them."""

import shlex


def command(verb: str, *arguments: object, **options: object) -> str:
    """`mesosctl volumes destroy agent-1 v1 --role web`: quoted for a shell, so that pasting it runs only this.

    `options` are by their names: True is one without a value, None is left out, and an underscore stands for a hyphen.
    A test checks that the command line has every verb and every option that is suggested.
    """
    given: list[str] = []
    for name, value in options.items():
        if value is None:
            continue
        given.append(f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-"))
        if value is not True:
            given.append(str(value))
    texts = [str(argument) for argument in arguments]
    if any(text.startswith("-") and text != "-" for text in texts):
        return shlex.join(["mesosctl", *verb.split(), *given, "--", *texts])
    return shlex.join(["mesosctl", *verb.split(), *texts, *given])
