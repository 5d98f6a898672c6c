"""Generation 1: the rules, a battle's words, and batches of battles."""
