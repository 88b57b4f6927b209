"""How results look, drawn with matplotlib."""
