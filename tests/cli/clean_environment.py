"""The environment of programs under test."""

import os


def clean_environment():
    """That of the tests without the variables that the program reads."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DEBERTA_")}
