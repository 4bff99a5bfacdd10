"""Habilis among its peers: who is asked (`systems`), by which programs (`agents`), and what it took (`proxy`)."""
