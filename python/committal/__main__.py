"""``python -m committal``: the command line."""

from committal.cli.entry import main

if __name__ == "__main__":
    main()
