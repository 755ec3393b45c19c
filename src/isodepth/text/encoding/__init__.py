"""From texts to clouds of token vectors: encoders, their networks, a cache."""
