"""Make a calendar from feeds that two bulletins amend."""
