"""Move style sheets to design tokens past a strict build."""
