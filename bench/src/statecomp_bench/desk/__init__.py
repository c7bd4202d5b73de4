"""A model reached by hand: questions go into a folder, and whoever answers them is the model."""
