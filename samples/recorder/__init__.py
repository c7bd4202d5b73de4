"""A small agent that drives real tools with a scripted policy and records what happened."""
