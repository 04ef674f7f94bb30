"""Pages that say the same, see `larm.index.duplicates.aliases`."""
