"""Four roles over a `TaskContext`: manager, tool developer, executor, integrator, and the team that runs them."""
