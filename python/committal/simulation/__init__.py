"""From an experiment to a labelled dataset: streams, the engine, `run`."""
