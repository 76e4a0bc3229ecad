"""Keys as SSH has them: the server's own, and those that users give; knows no store."""

import os
from contextlib import suppress
from pathlib import Path

import asyncssh

from stammdaten.refusals import Fault, Invalid, Unavailable

_LEAST_RSA_BITS = 2048
_LONGEST_KEY = 16 << 10
_ALGORITHMS = ("ssh-ed25519", "ssh-ed448", "ecdsa-sha2-", "sk-", "ssh-rsa")


def read_key(file: Path) -> str:
    """Read a file that should hold a key.

    :raises Invalid: if it cannot be read, or is larger than any key.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(_LONGEST_KEY + 1)
    except OSError as error:
        raise Invalid([Fault("key", f"must be a file that can be read: {error.strerror}")]) from error
    return text.decode("latin-1")


def public_key(text: str) -> str:
    """Read a public key as a user gives it; return it as OpenSSH writes it, without comment.

    :raises Invalid: if it is none, a private one, or too weak.
    """
    # Nothing of what was given is repeated: it may be a secret.
    if "PRIVATE KEY" in text:
        raise Invalid([Fault("key", "must be a public key: this is a private one, which stays with its owner")])
    lines = text.split("\n") if text.count("ssh-") + text.count("ecdsa-") > 1 else [text]
    if len([line for line in lines if line.strip()]) != 1 or len(text) > _LONGEST_KEY:
        raise Invalid([Fault("key", "must be one public key a file")])
    try:
        key = asyncssh.import_public_key(text.strip())
    except (asyncssh.KeyImportError, UnicodeError):
        raise Invalid([Fault("key", "must be a public key, in OpenSSH's form")]) from None
    is_weak = key.get_algorithm() == "ssh-rsa" and getattr(key.pyca_key, "key_size", 0) < _LEAST_RSA_BITS
    if not key.get_algorithm().startswith(_ALGORITHMS) or is_weak:
        allowed = f"must be an Ed25519, ECDSA or FIDO key, or an RSA key of {_LEAST_RSA_BITS} bits or more"
        raise Invalid([Fault("key", allowed)])
    return exported(key)


def exported(key: asyncssh.SSHKey) -> str:
    """Write a public key as OpenSSH does, without comment."""
    return " ".join(key.export_public_key().decode().split()[:2])


def host_key(home: Path) -> asyncssh.SSHKey:
    """Return the server's key, made on the first start and never written over.

    :raises Unavailable: if it cannot be read or made.
    """
    file = home / "sftp_host_key"
    new = file.with_name(f"sftp_host_key.{os.getpid()}")
    try:
        if not file.exists():
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as written:
                written.write(asyncssh.generate_private_key("ssh-ed25519").export_private_key())
                os.fsync(written.fileno())
            # A link, not a rename: that would write over one that came meanwhile.
            with suppress(FileExistsError):
                file.hardlink_to(new)
            new.unlink()
        return asyncssh.read_private_key(file)
    except (OSError, asyncssh.KeyImportError) as error:
        raise Unavailable(f"The host key {file} cannot be used: {error}") from error
