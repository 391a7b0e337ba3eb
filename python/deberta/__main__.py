"""`python -m deberta` is the command `deberta`."""

from deberta._program import main

main()
