"""A deterministic simulation: the real store on real SQLite, by a clock, an order and faults that a seed decides.

Workers, clients, schedulers, a reaper and an administrator are generators that stop before every call of the store.
One seed decides who goes on, what goes wrong there, and how time passes; so a seed that fails can be run again.

    python -m proof.simulation SEED                                      run one seed, and print what happened
    python -m proof.simulation --count 2000                              run many, and print how they went
    python -m proof.simulation --count 100000 --shard 1/2 --state FILE   a part of a long campaign, which can be stopped
    python -m proof.simulation --guards                                  remove each guard, and see when it is missed
"""
