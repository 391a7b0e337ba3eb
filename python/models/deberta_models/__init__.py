"""The built-in models of deberta-cpp: files alone, found by deberta.open("builtin:NAME")."""
