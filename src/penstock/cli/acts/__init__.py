"""What `penstock demo` plays: an act for each application, each with its work, how far it is, and checks at the end."""
