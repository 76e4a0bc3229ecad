"""Who calls, and what may they: accounts, instances, users, tokens, roles."""
