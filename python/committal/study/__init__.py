"""Many experiments at once: grids, stores that survive, any executor, files of studies."""
