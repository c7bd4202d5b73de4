"""Request bodies: unpacked, read, and put together again from their own characters."""
