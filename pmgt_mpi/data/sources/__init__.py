"""The sources of rows, one file for each, and what several of them share."""
