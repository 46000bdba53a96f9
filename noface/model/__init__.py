"""The records and enumerations that all rooms share: issue, attempt, gate, failure, action, history. Pure."""
