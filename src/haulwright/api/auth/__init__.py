"""Who calls: tokens of the installation, JSON Web Tokens of somebody else, and a link that works once."""
