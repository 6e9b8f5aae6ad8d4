"""`python -m laya` is the `laya` command."""

from laya.cli import main

main()
