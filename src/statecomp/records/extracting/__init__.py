"""Records without a model: unwrap, cut into units that stand alone, rank, choose, compose."""
