"""A deterministic simulation: the real store on real SQLite, by a clock, an order and faults that a seed decides.

Workers, clients, schedulers, a reaper and an administrator are generators that stop before every call of the store.
One seed decides who goes on, what goes wrong there, and how time passes; so a seed that fails can be run again.

    python -m proof.simulation SEED           run one seed, and print what happened
    python -m proof.simulation 0 2000         run many, and print how they went
"""
