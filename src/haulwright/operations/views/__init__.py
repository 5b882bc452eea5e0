"""The JSON of each noun, one module a noun: a `TypedDict`, and the function that makes it of the frozen value.

Keys are stable: programs rely on them and on their order. Every door shows these and none builds its own.
"""
