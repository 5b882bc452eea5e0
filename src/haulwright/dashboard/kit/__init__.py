"""What pages share: how they are declared, run, answered and drawn."""
