"""Products over HTTP."""

from tests.cast import Member, found_product, make_product


class TestFindProduct:
    """POST products/find."""

    def test_returns_every_field_with_its_default(self, anna: Member) -> None:
        """What was not given comes back as "" or false, never as null."""
        product_id = make_product(anna)

        product = found_product(anna)

        assert product["id"] == product_id
        assert product["list_id"] == anna.list_id
