"""The walls: bubblewrap, or Landlock, whichever a probe has seen to hold."""
