"""How things are timed, on what data, and on which machine."""
