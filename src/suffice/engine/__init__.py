"""The engine: the research loop, the pipeline around it, presets and interventions."""
