"""The documentation's own tests: links, the site, and what its pages show."""
