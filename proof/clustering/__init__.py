"""How good the clusters are: labelled news, weights learned on one part of it, and scores on another."""
