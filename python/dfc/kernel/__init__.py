"""A Jupyter kernel: cells of the language, over `dfc repl --protocol=json`.

    python -m dfc.kernel install        makes it known to Jupyter, for this environment
    python -m dfc.kernel -f FILE        what Jupyter starts

docs/python.md, "Notebooks".
"""
