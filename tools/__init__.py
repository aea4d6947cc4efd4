"""What makes a release of the repository."""
