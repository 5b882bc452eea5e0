"""The hands: claim, run, renew, settle, and keep the house in order."""
