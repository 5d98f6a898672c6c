"""The machines that training runs on: their memory, what is wrong with them, and many of them at once."""
