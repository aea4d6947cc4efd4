"""What goes into an explanation: who was weighed, what was tried, and all of it in words."""
