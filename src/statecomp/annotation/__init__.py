"""When each step of a recorded run could be replaced: labels, who sets them, how they compare."""
