"""What every tool of another program needs: names, results by kind, credentials, a process apart."""
