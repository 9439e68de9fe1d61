"""All IO."""
