"""What we measure, and how. Results are kept in RESULTS.md."""
