"""How tokens look, how they are hashed and how an Authorization header is read; no store."""

import hashlib
import secrets

_PREFIX = "st_"
_LONGEST = 200


def new_token() -> str:
    """Make a token: 256 random bits behind a prefix by which secret scanners can know it."""
    return _PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Hash a token as it is kept. One round is enough: 256 random bits cannot be guessed from it."""
    return hashlib.sha256(token.encode()).hexdigest()


def bearer_token(header: str | None) -> str | None:
    """Return the token of an Authorization header, or None where there is none that could be one of ours."""
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        return None
    token = token.strip(" ")
    return token if token.startswith(_PREFIX) and token.isascii() and len(token) <= _LONGEST else None
