"""What is wrong, for the user."""


class Problem(Exception):
    """A mistake in the command line, or a machine that does not fit; exit status 2."""
