"""A sentence repeated with one name exchanged: every name of the claim may stand in the source, only not in this place.

The two are laid side by side, content word by content word. Where everything around a place agrees and both have a name in
it, and not the same, the claim says of one what the source says of another.
"""

from difflib import SequenceMatcher

from suffice.write.checkers.reading import ContentToken, SentenceFeatures

_MIN_ALIGNED_SHARE = 0.6  # The share of the claim's words that must stand in the sentence in the same order.


def find_swapped_name(claim: SentenceFeatures, said: SentenceFeatures) -> str:
    """What stands where in the source and what in the claim; empty when no name was exchanged."""
    if "by" in claim.words ^ said.words:  # One is in the passive voice: the names change places by right.
        return ""
    ours, theirs = claim.tokens, said.tokens
    keys, others = [mark.stem for mark in ours], [mark.stem for mark in theirs]
    least = _MIN_ALIGNED_SHARE * len(keys)
    if sum(map(set(others).__contains__, keys)) < least:  # Most sentences are sorted out by this.
        return ""
    steps = SequenceMatcher(None, keys, others, autojunk=False).get_opcodes()
    if sum(j - i for step, i, j, _, _ in steps if step == "equal") < least:
        return ""
    loose = {key for step, i, j, _, _ in steps if step != "equal" for key in keys[i:j]}
    their_loose = {key for step, _, _, k, end in steps if step != "equal" for key in others[k:end]}
    for step, i, j, k, end in steps:
        if step != "replace":
            continue
        here, there = _list_names(ours[i:j]), _list_names(theirs[k:end])
        moved = set(here) <= their_loose and loose & set(there)  # Both stand somewhere else where the two differ.
        if here and there and not set(here) & set(there) and not moved:
            return f"{' '.join(there)} there, {' '.join(here)} here"
    return ""


def _list_names(marks: tuple[ContentToken, ...]) -> list[str]:
    return [mark.stem for mark in marks if mark.is_name_or_number and not mark.stem.startswith("#")]
