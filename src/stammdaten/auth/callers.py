"""The caller of a request and what roles allow; plain values, no store."""

from dataclasses import dataclass
from enum import StrEnum

from stammdaten.refusals import NotAllowed


class Role(StrEnum):
    """What a user may be in an instance (decisions: Words)."""

    CLIENT_ADMIN = "client-admin"
    EXTENDED_CLERK = "extended-clerk"
    CLERK = "clerk"
    ARTICLE_PROCESSOR = "article-processor"
    AUDITOR = "auditor"
    AUDITOR_INTERNAL = "auditor-internal"
    API_USER = "api-user"


_AUDITORS = {Role.AUDITOR, Role.AUDITOR_INTERNAL}
_MAY_IMPORT = {Role.CLIENT_ADMIN, Role.API_USER}
_MAY_RESET_FIXED = {Role.CLIENT_ADMIN, Role.EXTENDED_CLERK}


@dataclass(frozen=True, slots=True)
class Caller:
    """A user in an instance, known by a token."""

    instance_id: int
    prefix: str
    user_id: int
    user_name: str
    roles: frozenset[str]

    @property
    def may_write_products(self) -> bool:
        """Everyone but who is an auditor and nothing else (decisions: Authentication 3)."""
        return not self.roles or not self.roles <= _AUDITORS

    @property
    def may_reset_fixed(self) -> bool:
        """Who may reset a classification that is fixed (decisions: Classification)."""
        return bool(self.roles & _MAY_RESET_FIXED)


def check_may_write_products(caller: Caller) -> None:
    """Refuse a caller who may only look.

    :raises NotAllowed: if the caller has an auditor role and no other.
    """
    if not caller.may_write_products:
        raise NotAllowed("An auditor may not change products.")


def check_may_use_contacts(caller: Caller) -> None:
    """Refuse a caller without the role that the specification asks for.

    :raises NotAllowed: if the caller is no `api-user`.
    """
    if Role.API_USER not in caller.roles:
        raise NotAllowed("This action needs the role api-user.")


def check_may_import(caller: Caller) -> None:
    """Refuse a caller who may not import files.

    :raises NotAllowed: if the caller is neither `client-admin` nor `api-user`.
    """
    if not caller.roles & _MAY_IMPORT:
        raise NotAllowed("Importing a file needs the role client-admin or api-user.")
