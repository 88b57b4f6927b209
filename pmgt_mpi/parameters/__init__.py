"""The numbers that a method gets, and who looks after them."""
