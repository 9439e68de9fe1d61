"""`python -m flemma.host`: the process Neovim starts with `jobstart(..., {rpc = true})`."""

import gc

# What is imported lives as long as the process. Looking through it for garbage meanwhile, again and
# again, would take a tenth of the start; :mod:`flemma.host.memory` has it done once when idle.
gc.disable()

from flemma.host.process import main  # noqa: E402

if __name__ == "__main__":
    main()
