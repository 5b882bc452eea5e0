"""The snapshot of a brand: facts computed, statements drafted, a document made, two of them compared."""
