"""What studies with readers share: views to go on from, names that say nothing, records."""
