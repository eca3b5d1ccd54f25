"""``python -m committal``: the command line."""

from committal.cli.app import main

if __name__ == "__main__":
    main()
