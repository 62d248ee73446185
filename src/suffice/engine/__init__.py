"""The engine: the research loop, the pipeline around it, and what a run is made of (presets, limits, interventions, images)."""
