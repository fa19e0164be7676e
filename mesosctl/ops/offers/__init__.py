"""Offers: who holds which, why others do not, and what is done with one.

listing      offers list, offers watch
explaining   offers explain
taking       offers take
simulating   offers simulate
"""
