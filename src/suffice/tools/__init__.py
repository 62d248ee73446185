"""What a run may use beside search and model."""
