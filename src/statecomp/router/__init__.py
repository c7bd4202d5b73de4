"""The learned scorer: trained, calibrated, judged on tasks it has not seen, kept as a bundle."""
