"""From suspects and decisions to a cleaned version; the sheets on which people decide."""
