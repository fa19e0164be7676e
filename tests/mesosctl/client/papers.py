"""Certificates made for a test."""

import ssl

import trustme


class Papers:
    """An authority, and files that it made."""

    def __init__(self, folder):
        self.authority = trustme.CA()
        self.folder = folder
        self.cacert = self._write("ca.pem", self.authority.cert_pem)

    def _write(self, name, *pems):
        path = self.folder / name
        path.write_bytes(b"".join(pem.bytes() for pem in pems))
        return str(path)

    def client(self, name="client", **options):
        """The words that give a client's certificate and key."""
        made = self.authority.issue_cert(f"{name}@example.org", **options)
        cert = self._write(f"{name}.pem", *made.cert_chain_pems)
        return "--cert", cert, "--key", self._write(f"{name}.key", made.private_key_pem)

    def server(self, *names, wants_client=False, version=None, **options):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.authority.issue_cert(*(names or ("127.0.0.1", "localhost")), **options).configure_cert(context)
        if wants_client:
            self.authority.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        if version is not None:
            context.maximum_version = version
        return context
