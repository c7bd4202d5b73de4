"""Next actions: what a reader would do at a hard moment of a recorded run, judged blind."""
