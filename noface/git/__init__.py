"""All that noface asks of git: plumbing commands, workspaces, snapshots, refs, landing."""
