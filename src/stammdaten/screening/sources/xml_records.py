"""XML as a stream of records, safely: no DTD, no entities, nothing from outside; knows no list."""

from collections.abc import Collection, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]  # ships no types
from defusedxml.ElementTree import iterparse  # type: ignore[import-untyped]  # ships no types

from stammdaten.screening.sources.drafts import clean
from stammdaten.screening.sources.reading import Reading, Unreadable

# No list nests deeper than ten levels.
_DEEPEST = 64


def root_of(path: Path) -> Element:
    """Return the outermost element of a document, with its attributes and without what is in it.

    :raises Unreadable: if the file does not begin as XML
    """
    for _, element in _events(path):
        return element
    raise Unreadable("The file is empty; an XML document was expected.")


def looks_like_xml(path: Path) -> bool:
    """Tell whether the first character of a file is that of XML."""
    with path.open("rb") as file:
        start = file.read(200)
    for mark in (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"):
        start = start.removeprefix(mark)
    return start.replace(b"\x00", b"").lstrip().startswith(b"<")


def require_root(path: Path, name: str, namespaces: Collection[str] = ("",)) -> Element:
    """Return the outermost element if it has that name and one of the namespaces.

    :raises Unreadable: if the file is not XML, or of another format
    """
    if not looks_like_xml(path):
        raise Unreadable(f"{path.name} does not begin as XML; an element {name} was expected.")
    root = root_of(path)
    namespace, _, local = str(root.tag).rpartition("}")
    if local != name or namespace.removeprefix("{") not in namespaces:
        raise Unreadable(f"The outermost element is {str(root.tag)[:100]!r}; {name} was expected.")
    return root


def records(path: Path, *, depth: int = 1) -> Iterator[Element]:
    """Yield each element that lies `depth` levels below the root, complete; it is emptied when the next is asked for.

    Elements above that level are yielded too, when they end, emptied of the records in them.
    Tags are without their namespace.

    :raises Unreadable: if the document is not well-formed, not closed, or holds a DTD, an entity or a reference
    """
    ancestors: list[Element] = []
    for event, element in _events(path):
        if event == "start":
            if len(ancestors) >= _DEEPEST:
                raise Unreadable(f"The elements lie in one another deeper than {_DEEPEST} levels.")
            ancestors.append(element)
            continue
        ancestors.pop()
        if ancestors:
            element.tag = local_name(element)
        if 0 < len(ancestors) <= depth:
            yield element
            del ancestors[-1][:]


def local_name(element: Element) -> str:
    """Return the tag without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: Element, tag: str) -> str:
    """Return the cleaned text of the first child of that name, empty if there is none."""
    return clean(element.findtext(tag))


def texts_of(element: Element, way: str) -> list[str]:
    """Return the cleaned texts, without empty ones, of all elements that the way leads to."""
    return list(filter(None, (clean(found.text) for found in element.findall(way))))


def report_unknown(reading: Reading, record: Element, known: Collection[str]) -> None:
    """Count the elements of a record whose names are not known, each once."""
    for tag in {str(part.tag) for part in record}.difference(known):
        reading.not_understood("element", tag)


def _events(path: Path) -> Iterator[tuple[str, Element]]:
    with path.open("rb") as file:
        events = iterparse(file, events=("start", "end"), forbid_dtd=True)
        while True:
            try:
                event, element = next(events)
            except StopIteration:
                return
            except ParseError as error:
                line, column = error.position
                reason = str(error).partition(":")[0]
                raise Unreadable(f"Line {line}, column {column}: {reason}; complete XML was expected.") from error
            except DefusedXmlException as error:
                reason = type(error).__name__
                raise Unreadable(f"The XML holds a DTD, an entity or an external reference ({reason}).") from error
            except (ValueError, LookupError) as error:  # an encoding that the parser does not know
                raise Unreadable(f"The XML cannot be decoded: {clean(str(error))[:200]}.") from error
            yield event, element
