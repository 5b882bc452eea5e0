"""What `haulwright demo` plays: an act for each application, with its work, how far it is, and checks at the end."""
