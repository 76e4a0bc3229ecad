"""Product lists: what products belong to."""
