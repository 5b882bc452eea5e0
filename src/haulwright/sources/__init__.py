"""Sources: the manners towards other people's servers, and what is drawn from them."""
