"""The fast way of a replay: the decisions of the allocator alone, without a master around them."""
