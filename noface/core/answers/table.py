"""The forms of answer by topic. Adding one touches its own module and one line here.

What a breakdown proposes cannot be had as advice: its `read` only tells the titles, and `core/breakdown.py` makes
issues of the value. On dependencies nobody is asked: noface knows them itself.
"""

from collections.abc import Mapping

from noface.core.answers import architect, boundary, breakdown, clarification, conflict, diagnosis, reflection, review
from noface.core.answers.form import AnswerForm
from noface.core.history import Topic

ANSWERS: Mapping[Topic, AnswerForm] = {
    Topic.DIAGNOSIS: diagnosis.FORM,
    Topic.REFLECTION: reflection.FORM,
    Topic.CLARIFICATION: clarification.FORM,
    Topic.BOUNDARY: boundary.FORM,
    Topic.MERGE_CONFLICT: conflict.FORM,
    Topic.ARCHITECT: architect.FORM,
    Topic.BREAKDOWN: breakdown.FORM,
    Topic.REVIEW: review.FORM,
}
