"""The settings block at the top of a chat: its languages, and the layer they write.

:func:`flemma.config.frontmatter.languages.FrontmatterLanguages.evaluate` runs a block,
:func:`flemma.config.frontmatter.result.apply_frontmatter` is the only place where its outcome meets
the other layers.
"""
