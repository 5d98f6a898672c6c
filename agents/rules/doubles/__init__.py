"""The rule players' doubles: what each of them does with two slots."""
