"""Settings: their declarations, their layers, and the frontmatter that writes the topmost layer.

Start at :class:`flemma.config.schema.Config` (every option) and
:func:`flemma.config.resolve.resolve` (layers in, options out).
"""
