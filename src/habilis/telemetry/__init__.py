"""What is told of a task or a training while it works, and counted afterwards: traces, alerts, figures. Nothing here
steers, and nothing of OpenTelemetry is imported unless an endpoint is set."""
