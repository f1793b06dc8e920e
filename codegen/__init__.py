"""Catalogue -> C++, stubs and pages. No operator is named here."""
