"""A model behind the chat completions API that many speak."""
