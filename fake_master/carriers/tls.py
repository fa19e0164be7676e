"""TLS of a served master, by the files that Mesos itself takes in its environment."""

import ssl
from pathlib import Path

from mesosctl.core.errors import BadInput
from mesosctl.core.reading import why_unreadable


def server_context(cert: Path | None, key: Path | None, ca: Path | None, *, required: bool) -> ssl.SSLContext | None:
    """As LIBPROCESS_SSL_CERT_FILE, _KEY_FILE, _CA_FILE and _REQUIRE_CLIENT_CERT of Mesos.  Raises BadInput."""
    if cert is None:
        if key is not None or ca is not None or required:
            raise BadInput("TLS needs a certificate", field="ssl_cert_file", hint="give --ssl-cert-file")
        return None
    if required and ca is None:
        raise BadInput("client certificates need an authority", field="ssl_ca_file", hint="give --ssl-ca-file")
    for field, path in (("ssl_cert_file", cert), ("ssl_key_file", key), ("ssl_ca_file", ca)):
        try:
            if path is not None:
                Path(path).open("rb").close()  # ssl does not tell which file it was
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", field=field) from None
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=ca)
        context.load_cert_chain(cert, key)
    except ssl.SSLError:
        raise BadInput(
            "the TLS files cannot be used: they should be a certificate and its key, in PEM and without a pass phrase",
            field="ssl_cert_file",
        ) from None
    if ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
    return context
