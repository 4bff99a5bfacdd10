"""A question about one table, in one form: which columns and rows its words mean, which conditions, measures, groups,
ranks and orders stand in it. Each module takes one kind of part out of it, and knows those before it: `lexicon` is the
first, `orders_asked` the last."""
