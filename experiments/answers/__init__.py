"""Answers of the library on real tables with known changes: are they right?"""
