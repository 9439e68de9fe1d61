"""The model catalogue: limits, thinking modes and prices."""
