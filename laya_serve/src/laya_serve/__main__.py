"""`python -m laya_serve` is `laya-serve`."""

from laya_serve.command import main

main()
