"""Which of many folded names resemble one: letter triples and consonants, indexed in memory. Knows no lists, no scores.

Queries are made of terms, never parsed from text, so nothing a name contains can act on the index.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import tantivy

from stammdaten.screening.matching.folding import skeleton
from stammdaten.screening.matching.parsing import is_general, parsed

_HEAP = 15_000_000  # bytes, the least that the writer takes for its one thread
_TERMS = 96  # letter triples that are asked for: a name of 500 characters must not cost ten times one of fifty
_GRAM = 3
_COMMON = 10_000  # names that share a triple: more of them are not gone through, however many there are
_TELLING = 8  # triples that are asked for however common they are
_BY_LETTERS = "letters"
_BY_CONSONANTS = "consonants"


class Candidates:
    """An index of folded names by their place in the given sequence; immutable."""

    def __init__(self, folded: Iterable[str]) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field(_BY_LETTERS, tokenizer_name="triples", index_option="freq")
        schema.add_text_field(_BY_CONSONANTS, tokenizer_name="words", index_option="basic")
        schema.add_unsigned_field("place", fast=True)
        self._schema = schema.build()
        index = tantivy.Index(self._schema)
        triples = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(_GRAM, _GRAM, False)).build()
        index.register_tokenizer("triples", triples)
        index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
        writer = index.writer(heap_size=_HEAP, num_threads=1)
        for place, name in enumerate(folded):
            document = tantivy.Document()
            document.add_text(_BY_LETTERS, f" {name} ")
            document.add_text(_BY_CONSONANTS, _consonants(name))
            document.add_unsigned("place", place)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()
        self._common = min(self._searcher.num_docs // 30, _COMMON)

    def like(self, folded: str, *, most: int, skip: int = 0) -> list[int]:
        """Return the places of the most similar names, `most` by letters and two thirds as many by consonants."""
        name = parsed(folded)
        places = dict.fromkeys(self._by_letters(" ".join(name.words), most, skip))
        # `Mahan Airlines` must not only be given other airlines.
        telling = [word for word in name.words if not is_general(word)]
        if 0 < len(telling) < len(name.words):
            places.update(dict.fromkeys(self._by_letters(" ".join(telling), most, skip)))
        places.update(
            dict.fromkeys(self._places(_BY_CONSONANTS, _consonants(folded).split(), most * 2 // 3, skip * 2 // 3))
        )
        return list(places)

    def _by_letters(self, words: str, most: int, skip: int) -> list[int]:
        return self._places(_BY_LETTERS, self._telling(_triples(words)), most, skip)

    def _telling(self, triples: list[str]) -> list[str]:
        """Return the rarer triples: those that stand in every thirtieth name cost the most time and tell the least."""
        counts = {triple: self._searcher.doc_freq(_BY_LETTERS, triple) for triple in triples}
        rare = sorted(triples, key=lambda triple: (counts[triple], triple))
        common = next((place for place, triple in enumerate(rare) if counts[triple] > self._common), len(rare))
        return rare[: max(common, _TELLING)]

    def _places(self, field: str, terms: list[str], most: int, skip: int) -> list[int]:
        if not terms:
            return []
        query = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, term, index_option="freq"))
                for term in dict.fromkeys(terms)
            ]
        )
        hits = self._searcher.search(query, limit=most, count=False, offset=skip).hits
        places = self._searcher.fast_field_values("place", [address for _, address in hits])
        return [place for place in places if isinstance(place, int)]


class Names:
    """Folded names, each once, that can be asked for the ones like a name; immutable."""

    def __init__(self, folded: Sequence[str]) -> None:
        self._folded = folded
        # An index of nothing would take its memory all the same.
        self._candidates = Candidates(folded) if folded else None
        same: dict[str, list[str]] = {}
        for name in folded:
            same.setdefault(in_any_order(name), []).append(name)
        # Tuples of plain values: the garbage collector does not walk them.
        self._same = {key: tuple(names) for key, names in same.items()}

    def like(self, folded: str, *, block: int, blocks: int) -> Iterator[list[str]]:
        """Give blocks of names, ever less alike: the same words in any order first; who finds nothing may stop."""
        if self._candidates is None:
            return
        same = self._same.get(in_any_order(folded), ())
        seen: set[str] = set()
        for number in range(blocks):
            places = self._candidates.like(folded, most=block, skip=number * block)
            names = dict.fromkeys((*same, *(self._folded[place] for place in places)))
            if number and not names:
                return
            yield [name for name in names if name not in seen]
            seen.update(names)
            same = ()


def in_any_order(folded: str) -> str:
    """Return the words sorted: equal for names that differ in their order only."""
    return " ".join(sorted(folded.split()))


def _triples(folded: str) -> list[str]:
    marked = f" {folded} "
    found = [marked[start : start + _GRAM] for start in range(len(marked) - _GRAM + 1)]
    return [triple for triple in dict.fromkeys(found) if triple[1] != " "][:_TERMS]


def _consonants(folded: str) -> str:
    """Return what is searched and found by consonants: each word, with and without j, and words that may be one."""
    words = folded.split()
    bones = [skeleton(word) or word for word in words]
    bones += [skeleton(word.replace("j", "y")) for word in words if "j" in word]
    if not folded.islower():
        bones += [skeleton(one + other) for one, other in pairwise(words) if one.isupper()]
    return " ".join(bones)
