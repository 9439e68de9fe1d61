"""Running programs, and ending them with everything they started."""

from flemma.adapters.processes.system import SystemProcesses

__all__ = ["SystemProcesses"]
