"""One master: where it is, who leads, what is sent, what came back, what went wrong.

The only package that knows h11 and httpx; the first is imported with the first request, the second
where a transport of it is plugged in.
"""
