"""JSON schemas of others, checked within bounds and in counted steps; values that nearly fit them, made to fit."""
