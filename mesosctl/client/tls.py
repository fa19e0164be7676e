"""TLS: the context of a client, and its failures as errors."""

import re
import ssl
from collections.abc import Iterator

from mesosctl.client.settings import Tls
from mesosctl.files.reading import check_size, unreadable_hint
from mesosctl.mesos.errors import BadInput, TlsFailure, printable

# "[Errno 111] …", "[SSL: WRONG_VERSION_NUMBER] … (_ssl.c:1006)"
_LEAKS = re.compile(r"^\[[^\]]*\] |\(_ssl\.c:\d+\)$")

_FILES = "see --cacert, --cert and --key"
_OWN_CERTIFICATE = "give --cert, signed by an authority that the master trusts, and its --key"

_BROKEN_FILES = {"KEY_VALUES_MISMATCH": "the key does not belong to the certificate"}

# By X509_V_ERR_…: the fault of the master's certificate, and what to do.
_REFUSED_BY_US: dict[int, tuple[str, str]] = {
    9: ("its certificate is not valid yet", "check the clocks of both machines"),
    10: ("its certificate has expired", "renew it on the master, and check this machine's clock"),
    62: (
        "its certificate is for another host",
        "name the master as its certificate does, or make a certificate for this name",
    ),
    64: (
        "its certificate does not name this IP address",
        "name the master as its certificate does, or make a certificate for this address",
    ),
} | dict.fromkeys(
    (18, 19, 20, 21),
    ("its certificate is signed by an authority that is not trusted here", "give its authority with --cacert FILE"),
)

# By the alert with which a master ends the handshake: its reason.
_REFUSED_BY_THE_MASTER: dict[str, tuple[str, str]] = {
    "CERTIFICATE_REQUIRED": ("it requires a client certificate", _OWN_CERTIFICATE),
    "HANDSHAKE_FAILURE": (
        "it refuses the handshake, perhaps because it requires a client certificate",
        _OWN_CERTIFICATE,
    ),
    "UNKNOWN_CA": ("it does not trust the authority that signed the client certificate", _OWN_CERTIFICATE),
    "BAD_CERTIFICATE": ("it does not accept the client certificate", _OWN_CERTIFICATE),
    "UNSUPPORTED_CERTIFICATE": ("it does not accept this kind of client certificate", _OWN_CERTIFICATE),
    "CERTIFICATE_UNKNOWN": ("it does not accept the client certificate", _OWN_CERTIFICATE),
    "CERTIFICATE_REVOKED": ("the client certificate is revoked", _OWN_CERTIFICATE),
    "CERTIFICATE_EXPIRED": ("the client certificate has expired", "renew it, and give it with --cert and --key"),
    "ACCESS_DENIED": ("it denies access with this client certificate", _OWN_CERTIFICATE),
}

# OpenSSL's names for an answer that is not TLS, such as that of an http server.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")


def open_context(tls: Tls) -> ssl.SSLContext:
    """Return the TLS context for connections.  Raises BadInput for files that cannot be used."""
    for field, path in (("--cacert", tls.ca_file), ("--cert", tls.cert_file), ("--key", tls.key_file)):
        try:
            if path is not None:
                check_size(path)  # ssl does not say which file it was, and waits for a FIFO
        except OSError as error:
            raise _unusable(field, path, error) from None
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
    except OSError as error:
        raise _unusable("--cacert", tls.ca_file, error) from None
    if tls.cert_file is not None:
        both = " with ".join(path for path in (tls.cert_file, tls.key_file) if path is not None)
        try:
            context.load_cert_chain(tls.cert_file, tls.key_file, password=_no_password)
        except OSError as error:
            raise _unusable("--cert", both, error) from None
    return context


def _no_password() -> str:
    """Refuse an encrypted key: OpenSSL would prompt on the terminal, and hang without one."""
    raise _EncryptedError


class _EncryptedError(ssl.SSLError):
    """The key has a passphrase."""


def _unusable(field: str, path: str | None, error: OSError) -> BadInput:
    if isinstance(error, _EncryptedError):
        reason = "the key is encrypted; give one without a passphrase"
    elif isinstance(error, ssl.SSLError):
        reason = _BROKEN_FILES.get(error.reason, "it contains no PEM data of the right kind")
    else:
        reason = error.strerror or plain_reason(error)
    hint = None if path is None or isinstance(error, ssl.SSLError) else unreadable_hint(path, error)
    return BadInput(f"{printable(path or 'the TLS files')} cannot be used: {reason}", field=field, hint=hint or _FILES)


def find_cause(error: BaseException | None) -> ssl.SSLError | None:
    """The failure of TLS that an exception comes from."""
    return next((cause for cause in _causes(error) if isinstance(cause, ssl.SSLError)), None)


def was_hung_up_on(error: BaseException) -> bool:
    """Whether a handshake ended because the other side closed the connection."""
    return any(isinstance(cause, ConnectionResetError | BrokenPipeError) for cause in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []  # a chain of causes may be circular
    while error is not None and not any(error is earlier for earlier in seen):
        yield error
        seen.append(error)
        error = error.__cause__ or error.__context__


def refused_by_master(error: ssl.SSLError) -> bool:
    """Whether the master ended the handshake, and so took no request.

    In TLS 1.3 a client may have sent its request by then; it is not read.
    """
    return _alert(error) in _REFUSED_BY_THE_MASTER


def tls_failure(base: str, error: ssl.SSLError) -> TlsFailure:
    """The sentence for a handshake that failed, and what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        words, hint = _REFUSED_BY_US.get(
            error.verify_code, (f"its certificate is not valid: {error.verify_message}", _FILES)
        )
    elif getattr(error, "reason", None) in _NO_TLS or isinstance(error, ssl.SSLEOFError):
        return without_tls(base)
    else:
        words, hint = _REFUSED_BY_THE_MASTER.get(_alert(error), (plain_reason(error), _FILES))
    return TlsFailure(f"TLS with {base} failed: {words}", hint=hint)


def without_tls(base: str) -> TlsFailure:
    """Return the error for a server that does not speak https."""
    plain = base.replace("https:", "http:", 1)
    return TlsFailure(
        f"TLS with {base} failed: it does not speak TLS on this port; it may speak http",
        hint=f"write {plain} if you mean http, or check the port",
    )


def plain_reason(error: Exception) -> str:
    """The message of an error without the numbers and files of the libraries."""
    return printable(_LEAKS.sub("", str(error)).strip())


def _alert(error: ssl.SSLError) -> str:
    """`TLSV1_ALERT_UNKNOWN_CA`, `SSLV3_ALERT_…` and `TLSV13_ALERT_…` without the version."""
    # Only Python gives no reason for a failure.
    return (getattr(error, "reason", None) or "").partition("_ALERT_")[2]
