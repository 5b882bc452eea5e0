"""Shops that sell coins: listings and details for people, and a listing for programs."""
