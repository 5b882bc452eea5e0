"""The brief at full size: thousands of feeds read again and again by workers that are killed."""
