"""Two routers on the same live traffic: what each would do, where nothing is done."""
