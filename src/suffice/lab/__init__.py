"""For people who compare and fit stopping rules."""
