"""Records in, tables and plots out; nothing in here trains."""
