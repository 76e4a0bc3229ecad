"""Product lists in JSON."""

from typing import Any

from stammdaten.store import Row


def rendered_list(row: Row) -> dict[str, Any]:
    """Shape a list as in the specification; its `id` is a String, though products carry it as an Integer `list_id`."""
    list_id, slug, name, inserted_at, updated_at, is_deleted = row
    return {
        "id": str(list_id),
        "slug": slug,
        "name": name,
        "inserted_at": inserted_at,
        "updated_at": updated_at,
        "is_deleted": is_deleted,
    }
