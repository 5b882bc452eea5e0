"""How good the clusters are: labelled streams, settings chosen on one part of them, and scores on another."""
