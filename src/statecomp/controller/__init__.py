"""Algorithm 1: which spans may go now, whether that pays, and what is put in their place."""
