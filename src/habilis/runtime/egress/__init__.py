"""The only way from a sandbox to the network: a proxy per call, which checks, records and replays."""
