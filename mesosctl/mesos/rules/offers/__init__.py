"""Offers: the agents that suit a framework, and operations on offers."""
