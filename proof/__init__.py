"""The promises at full size: real processes, real kills, and a simulation that finds what nobody thought of."""
