"""Pages that say the same, see `larm.duplicates.aliases`."""
