"""What a network sees and does in doubles: the choice of each slot is a decision, and so is each pick at team preview."""
