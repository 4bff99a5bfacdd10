"""Four roles over a workshop: manager, tool developer, executor, integrator, and the team that runs them."""
