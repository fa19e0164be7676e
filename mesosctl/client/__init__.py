"""One master: where it is, who leads, what is sent, what came back, what went wrong.

The only package that knows httpx, and it imports it when the first request is made.
"""
