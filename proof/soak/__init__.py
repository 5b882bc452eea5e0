"""Endurance: workers that live through faults for an hour, and take no more of the machine than after ten minutes."""
