"""What people say on a pull request: what asks for something, and what is talk, a question or a command. Pure."""

from collections.abc import Collection
from dataclasses import replace

from noface.data import table
from noface.model.publication import COMMANDS
from noface.model.pull_request import PullReview, ReviewComment, ReviewState
from noface.model.quoting import short

OURS = "<!-- noface"
"""What noface's own comments on a forge hold: its token may be a person's, so their author tells nothing."""

COMMAND = "/noface"
"""What a plain comment begins with if it is meant for noface: other comments are between people."""

_COMMAND_WORDS = 2
_TEXT_CHARS_MAX = 2_000
_POINTS_MAX = 40


def approved(reviews: tuple[PullReview, ...]) -> tuple[str, ...]:
    verdicts: dict[str, ReviewState] = {}
    for review in reviews:
        if review.trusted and review.state is not ReviewState.COMMENTED:
            verdicts[review.author] = review.state
    return tuple(author for author, state in verdicts.items() if state is ReviewState.APPROVED)


def asking(reviews: tuple[PullReview, ...], answered: Collection[str], login: str = "") -> tuple[PullReview, ...]:
    """Return the reviews that ask for something and have not been answered, oldest first.

    Only of people who may decide: nobody else's words reach a model. A request for changes counts until its author
    approves, a comment if it stands on a file or speaks to noface; of the owner of noface's token any with words.
    """
    settled = {r.author: n for n, r in enumerate(reviews) if r.trusted and r.state is ReviewState.APPROVED}
    return tuple(
        review
        for number, review in enumerate(reviews)
        if review.trusted
        and review_key(review) not in answered
        and number > settled.get(review.author, -1)
        and _asks(review, login)
    )


def review_key(review: PullReview) -> str:
    """Return what tells a review from others, and from a plain comment that happens to have its number."""
    return f"{review.id}" if review.commit else f"{review.id}c"


def _asks(review: PullReview, login: str) -> bool:
    match review.state:
        case ReviewState.CHANGES_REQUESTED:
            return not review.comments or bool(review.text.strip() or _on_files(review))
        case ReviewState.COMMENTED:
            own = bool(review.commit and login and review.author.lower() == login.lower() and review.text.strip())
            answered_by_text = own and OURS not in review.text
            speaks = _speaks_to_noface(review.text, login) and command_of(review) is None
            return bool(_on_files(review)) or answered_by_text or speaks
        case ReviewState.APPROVED | ReviewState.DISMISSED:
            return False


def _on_files(review: PullReview) -> tuple[ReviewComment, ...]:
    """Return a review's own comments that are not settled: those of others that hang on it are none of its words."""
    own = (c for c in review.comments if c.author == review.author and not c.resolved)
    return tuple(c for c in own if c.text.strip() and OURS not in c.text)


def without_talk(review: PullReview, login: str) -> PullReview:
    """Return a review without what people say to each other on lines: to somebody else, or thanks for an answer."""
    name = f"@{login.removesuffix('[bot]')}".lower()
    kept = (
        c
        for c in review.comments
        if not (_to_others(c.text, name) or (c.thread not in (0, c.id) and _only_thanks(c.text)))
    )
    return replace(review, comments=tuple(kept))


def _to_others(text: str, name: str) -> bool:
    words = [word.lower().rstrip(".,:;!?") for word in text.split()]
    return bool(words) and words[0].startswith("@") and len(words[0]) > 1 and name not in words


def _only_thanks(text: str) -> bool:
    """True if a text is nothing but thanks or assent: every word of it has to be known as such."""
    words = ["".join(filter(str.isalnum, word)).lower() for word in text.split()]
    return {*filter(None, words)} <= {*table("stop_words")["thanks"].split()}


def _speaks_to_noface(text: str, login: str) -> bool:
    words = [word.lower().rstrip(".,:;!?") for word in text.split()]
    mentioned = bool(login) and f"@{login.removesuffix('[bot]')}".lower() in words
    return OURS not in text and (words[:1] == [COMMAND] or mentioned)


def command_of(review: PullReview) -> tuple[str, str] | None:
    words = review.text.split(maxsplit=2)
    if review.commit or len(words) < _COMMAND_WORDS or words[0] != COMMAND:
        return None
    word = words[1].lower().rstrip(":")
    return (word, " ".join(words[2:])) if word in COMMANDS else None


def words_of(review: PullReview) -> str:
    """Return what a plain comment on a pull request says to noface behind `/noface`, "" if it does not begin so."""
    words = review.text.strip()
    return words.removeprefix(COMMAND).strip() if not review.commit and words.split()[:1] == [COMMAND] else ""


def unheard(reviews: tuple[PullReview, ...], answered: Collection[str]) -> tuple[PullReview, ...]:
    """Return the plain comments for noface that nothing was done about, by people who may decide, oldest first."""
    mine = (review for review in reviews if review.trusted and review_key(review) not in answered)
    return tuple(review for review in mine if words_of(review) and OURS not in review.text)


def only_asks(review: PullReview) -> bool:
    texts = [review.text, *(comment.text for comment in _on_files(review))]
    return review.state is ReviewState.COMMENTED and all(map(_is_question, filter(str.strip, texts)))


def _is_question(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith((">", "`"))]
    return bool(lines) and lines[-1].rstrip("*_ )").endswith("?")


def points_text(reviews: tuple[PullReview, ...]) -> str:
    """Return what reviewers ask for as the next worker reads it, with file and line, and the label of each comment."""
    labels = {comment: label for label, comment, *_ in labelled(reviews) if comment}
    parts = []
    for review in reviews:
        points = [_bounded(review.text)] if review.text.strip() and OURS not in review.text else []
        comments = _on_files(review)
        points += [f"{_place(c)}{_bounded(c.text)} [{labels[c.thread or c.id]}]" for c in comments[:_POINTS_MAX]]
        if len(comments) > _POINTS_MAX:
            points.append(f"and {len(comments) - _POINTS_MAX} more comments: {review.url}")
        listed = "".join(f"\n- {point}" for point in points) or "\n- (without a word)"
        parts.append(f"{review.author}:{listed}")
    return "\n\n".join(parts)


def labelled(reviews: tuple[PullReview, ...]) -> tuple[tuple[str, int, str, str], ...]:
    """Return what is answered on the pull request: label, thread (0 for what stands on none), path and author."""
    by_thread: dict[int, tuple[str, int, str, str]] = {}
    for review in reviews:
        for comment in _on_files(review)[:_POINTS_MAX]:
            thread = comment.thread or comment.id
            by_thread.setdefault(thread, (f"r{len(by_thread) + 1}", thread, comment.path, review.author))
    own = [("", 0, "", review.author) for review in reviews if review.text.strip() or not _on_files(review)]
    return (*by_thread.values(), *dict.fromkeys(own))


def _place(comment: ReviewComment) -> str:
    if not comment.path:
        return ""
    return f"{comment.path}:{comment.line}: " if comment.line is not None else f"{comment.path}: "


def _bounded(text: str) -> str:
    words = text.strip().removeprefix(COMMAND).strip()
    cut = words if len(words) <= _TEXT_CHARS_MAX else f"{words[:_TEXT_CHARS_MAX]} …"
    return cut.replace("\r\n", "\n").replace("\n", "\n  ")


def first_words(reviews: tuple[PullReview, ...], chars_max: int = 200) -> str:
    for review in reviews:
        texts = (review.text, *(f"{_place(comment)}{comment.text}" for comment in _on_files(review)))
        if first := next((text for text in texts if text.strip() and OURS not in text), ""):
            return short(first.removeprefix(COMMAND).strip(), chars_max)
    return "without a word"
