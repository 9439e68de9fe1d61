"""One wire format each: a request builder and a stream decoder."""
