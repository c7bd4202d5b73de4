"""Where offline work runs: in this process, on its cores, or on a Ray cluster."""
