"""A host of files: of any size, with ranges and validators, honest or not."""
