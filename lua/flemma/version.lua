--- The two versions of the handshake.
return {
  --- Version of the plugin; the Python package has the same one.
  plugin = "0.1.0",
  --- Version of the wire (`VERSION` of flemma/host/protocol.py).
  wire = 1,
}
