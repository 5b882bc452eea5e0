"""What the house is kept with."""
