"""Formats: tables, JSON, csv, charts, the frame of pages, and live views."""
