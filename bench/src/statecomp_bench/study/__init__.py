"""The study of representations and routers: the paper's tables and figures, on your own labels."""
