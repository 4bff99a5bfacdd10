"""From the tools of a step to the next generation: collected, clustered, merged, verified, published."""
